/** The texts of alerts in an encrypted room. */
import { CopyButton } from '../../components/copy-button.tsx';
import { t } from '../../i18n/all-strings.ts';

/** How often others have entered a wrong key. */
export const KeyAttempts = ({ n }: { n: number }) => <>{t('keyAttempts', { n })}</>;

/** Own words that are missing from the text, to copy them. */
export const MissingWords = ({ words }: { words: string }) => (
  <>
    {t('wordsMissing')} <CopyButton text={words} label={t('copyText')} />
  </>
);
