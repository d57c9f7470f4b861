/** Replaces the whole text and offers to undo that, until the person edits the text again. */
import type { SharedText } from '../../../../src/client/index.ts';
import { notify } from '../../components/notices.tsx';

export function replaceUndoably(text: SharedText, content: string, words: string): void {
  text.replace(content);
  const withdraw = notify(words, () => undo(text));
  const stop = text.on('change', ({ origin }) => {
    if (origin === 'remote') return;
    stop();
    withdraw();
  });
}

/** What others wrote into the empty text gets a line of its own. */
function undo(text: SharedText): void {
  const before = text.value;
  const change = text.undo();
  const [edit, ...others] = change?.edits ?? [];
  if (!edit || others.length > 0 || before === '' || edit.insert === '') return;
  const end = edit.from + edit.insert.length;
  if (edit.from === before.length && !before.endsWith('\n')) text.insert(edit.from, '\n');
  else if (edit.to === 0 && !edit.insert.endsWith('\n')) text.insert(end, '\n');
}
