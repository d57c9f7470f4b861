/** Translates between a text field and the shared text: what the user typed, line endings, and moved positions. */
import type { TextEdit } from '../../../../src/protocol/types.ts';
import { diffTexts } from '../../../../src/text/diff.ts';

/** A replacement by similar text, such as a paste over a selection, becomes several small edits. */
export function typedEdits(before: string, after: string, caret: number): TextEdit[] {
  const edit = typedEdit(before, after, caret);
  const removed = before.slice(edit.from, edit.to);
  if (removed === '' || edit.insert === '') return [edit];
  const shifted = ({ from, to, insert }: TextEdit) => ({ from: edit.from + from, to: edit.from + to, insert });
  return diffTexts(removed, edit.insert).map(shifted);
}

/** The caret marks the end of the change, so a letter typed next to equal ones gets its exact position. */
function typedEdit(before: string, after: string, caret: number): TextEdit {
  const shortest = Math.min(before.length, after.length);
  const behindCaret = after.length - caret;
  if (behindCaret <= shortest && before.endsWith(after.slice(caret))) {
    return between(before, after, commonStart(before, after, shortest - behindCaret), behindCaret);
  }
  const start = commonStart(before, after, shortest);
  return between(before, after, start, commonEnd(before, after, shortest - start));
}

const between = (before: string, after: string, start: number, end: number): TextEdit => ({
  from: start,
  to: before.length - end,
  insert: after.slice(start, after.length - end),
});

const commonStart = (one: string, other: string, max: number): number =>
  longest(max, (from, to) => one.slice(from, to) === other.slice(from, to));

function commonEnd(one: string, other: string, max: number): number {
  const part = (text: string, from: number, to: number) => text.slice(text.length - to, text.length - from);
  return longest(max, (from, to) => part(one, from, to) === part(other, from, to));
}

/** Binary search: the browser compares slices far faster than a loop compares characters. */
function longest(max: number, isSame: (from: number, to: number) => boolean): number {
  let [same, differs] = [0, max + 1];
  while (differs - same > 1) {
    const middle = (same + differs) >> 1;
    if (isSame(same, middle)) same = middle;
    else differs = middle;
  }
  return same;
}

/** A textarea shows every line ending as "\n". The text may contain "\r\n", so positions in the two differ. */
export const asShown = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** Typed text, with the line endings of the shared text. */
export const withLineEndingsOf = (text: string, typed: string): string =>
  typed.includes('\n') && /\r?\n/.exec(text)?.[0] === '\r\n' ? typed.replaceAll('\n', '\r\n') : typed;

export function positionInText(text: string, shown: number): number {
  let pairs = 0;
  for (let at = text.indexOf('\r\n'); at !== -1 && at - pairs < shown; at = text.indexOf('\r\n', at + 2)) pairs++;
  return shown + pairs;
}

export function positionInField(text: string, position: number): number {
  let pairs = 0;
  for (let at = text.indexOf('\r\n'); at !== -1 && at + 1 < position; at = text.indexOf('\r\n', at + 2)) pairs++;
  return position - pairs;
}

/** `side` of an insertion at this position: a caret stays before it, the start of a selection moves after it. */
export function movedPosition(edits: readonly TextEdit[], position: number, side: 'before' | 'after' = 'before') {
  let shift = 0;
  for (const { from, to, insert } of edits) {
    if (from > position) break;
    const isInsertion = from === to;
    if (to > position || (isInsertion && to === position && side === 'before')) return from + shift;
    shift += insert.length - (to - from);
  }
  return position + shift;
}

/** The end of the last edit, as a position in the new text. Undo moves the caret there. */
export function endOfEdits(edits: readonly TextEdit[]): number {
  let shift = 0;
  let end = 0;
  for (const { from, to, insert } of edits) {
    end = from + shift + insert.length;
    shift += insert.length - (to - from);
  }
  return end;
}
