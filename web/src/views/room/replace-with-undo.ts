/** Replaces the whole text and offers Undo until the user edits the text again. */
import type { SharedText } from '../../../../src/client/index.ts';
import { notify } from '../../components/notices.tsx';

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
