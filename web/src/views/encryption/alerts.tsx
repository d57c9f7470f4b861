/** The texts of alerts in an encrypted room. */
import { CopyButton } from '../../components/copy-button.tsx';
import { encryptionText } from '../../i18n/encryption-strings.ts';
import { t } from '../../i18n/index.ts';

/** How often others have entered a wrong key. */
export const KeyAttempts = ({ n }: { n: number }) => <>{encryptionText('keyAttempts', { n })}</>;

/** Own words that are missing from the text, to copy them. */
export const MissingWords = ({ words }: { words: string }) => (
  <>
    {encryptionText('wordsMissing')} <CopyButton text={words} label={t('copyText')} />
  </>
);
