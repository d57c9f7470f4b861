/** A field that takes a paste, for pages that cannot read the clipboard. */
import { useRef } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/all-strings.ts';

interface Props {
  onText: (text: string) => void;
  onClose: () => void;
}

const pasteKeys = () => (/^(Mac|iP)/.test(navigator.platform) ? '⌘V' : t('pasteKeys'));

export function PasteDialog({ onText, onClose }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);

  /** Closes the dialog first, so that the text takes the focus and keeps it. */
  function insert(text: string): void {
    field.current?.closest('dialog')?.close();
    onClose();
    if (text !== '') onText(text);
  }

  return (
    <Dialog title={t('paste')} onClose={onClose}>
      <label class="field">
        <span>{t('pasteHint', { keys: pasteKeys() })}</span>
        <textarea
          ref={field}
          rows={3}
          dir="auto"
          onPaste={(event) => {
            const text = event.clipboardData?.getData('text/plain') ?? '';
            // Files go on to the page, which adds them.
            if (text === '') return void (event.clipboardData?.files.length && insert(''));
            event.preventDefault();
            insert(text);
          }}
        />
      </label>
      <div class="actions">
        <button type="button" class="button primary" onClick={() => insert(field.current?.value ?? '')}>
          {t('insert')}
        </button>
      </div>
    </Dialog>
  );
}
