/** Actions on the whole text: save it, keep it after the room has ended, or replace it. Loaded on demand. */
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import { Button } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';

/** "poproom-7KQ2MX-2026-11-16.txt", with the local date. */
export function saveAsFile(code: string, text: string): void {
  const link = document.createElement('a');
  // The Swedish date format is that of ISO 8601.
  link.download = `poproom-${code}-${new Date().toLocaleDateString('sv')}.txt`;
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The text of a room that this page can no longer show, to copy or to save it. */
export function KeptText({ code, text, hint = t('textKept') }: { code: string; text: string; hint?: string }) {
  return (
    <>
      <p>{hint}</p>
      <div class="actions">
        <CopyButton text={text} label={t('copyText')} />
        <Button icon="down" label={t('saveText')} onClick={() => saveAsFile(code, text)} />
      </div>
    </>
  );
}

/** Replaces the whole text and offers Undo until the user edits the text again. */
export function replaceWithUndo(text: SharedText, content: string, message: string): void {
  text.replace(content);
  const dismiss = notify(message, { undo: () => undo(text) });
  const stop = text.on('change', ({ origin }) => {
    if (origin === 'remote') return;
    stop();
    dismiss();
  });
}

/** Puts text that others have written since on a line of its own. */
function undo(text: SharedText): void {
  const before = text.value;
  const change = text.undo();
  const [edit, ...others] = change?.edits ?? [];
  if (!edit || others.length > 0 || before === '' || edit.insert === '') return;
  const end = edit.from + edit.insert.length;
  if (edit.from === before.length && !before.endsWith('\n')) text.insert(edit.from, '\n');
  else if (edit.to === 0 && !edit.insert.endsWith('\n')) text.insert(end, '\n');
}
