/** Finds what the user changed in a field, without comparing the whole text character by character. */
import type { TextEdit } from '../../../../src/client/index.ts';
import { diffTexts } from '../../../../src/text/diff.ts';

/** A replacement by similar text, such as a paste over a selection, becomes several small edits. */
export function typedEdits(before: string, after: string, caret: number): TextEdit[] {
  const edit = typedEdit(before, after, caret);
  const removed = before.slice(edit.from, edit.to);
  if (removed === '' || edit.insert === '') return [edit];
  return diffTexts(removed, edit.insert).map(({ from, to, insert }) => ({
    from: edit.from + from,
    to: edit.from + to,
    insert,
  }));
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

const commonEnd = (one: string, other: string, max: number): number =>
  longest(
    max,
    (from, to) => one.slice(one.length - to, one.length - from) === other.slice(other.length - to, other.length - from),
  );

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
