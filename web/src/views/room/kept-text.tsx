/** The text of a room that this page can no longer show, to copy or to save it. */
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/strings.ts';
import { saveAsFile } from './text-file.ts';

export function KeptText({ code, text, hint = t('textKept') }: { code: string; text: string; hint?: string }) {
  return (
    <>
      <p>{hint}</p>
      <div class="actions">
        <CopyButton text={text} label={t('copyText')} />
        <button type="button" class="button" onClick={() => saveAsFile(code, text)}>
          <Icon name="down" />
          {t('saveText')}
        </button>
      </div>
    </>
  );
}
