/** Turns the edits of a program into edits that every replica can apply. */
import { cutsPair, findProblem, type TextEdit } from '../../text/edits.ts';

/**
 * Drops edits without effect, joins adjacent ones, and widens an edit that splits a surrogate pair to the whole pair.
 * Throws a RangeError for positions outside the text.
 */
export function toLocalEdits(edits: readonly TextEdit[], text: string): TextEdit[] {
  checkPositions(edits, text.length);
  return joinAdjacent(edits)
    .map((edit) => widen(edit, text))
    .filter(({ from, to, insert }) => insert !== text.slice(from, to));
}

function checkPositions(edits: readonly TextEdit[], length: number): void {
  const ranges = edits.map(({ from, to }) => ({ from, to, insert: '' }));
  const misfit = ranges.find(({ from, to }) => !Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0);
  const found = findProblem(ranges, length);
  if (found?.problem === 'overlapping') throw new RangeError('Edits must be in ascending order and must not overlap.');
  const wrong = misfit ?? (found && ranges[found.index]);
  if (wrong)
    throw new RangeError(`${wrong.from} to ${wrong.to} is not a valid range in a text of ${length} code units.`);
}

function joinAdjacent(edits: readonly TextEdit[]): TextEdit[] {
  const joined: TextEdit[] = [];
  for (const edit of edits) {
    const last = joined.at(-1);
    if (last?.to === edit.from) joined[joined.length - 1] = { ...last, to: edit.to, insert: last.insert + edit.insert };
    else joined.push(edit);
  }
  return joined;
}

/** Includes the other half of a surrogate pair that the edit would split. */
function widen({ from, to, insert }: TextEdit, text: string): TextEdit {
  const start = cutsPair(text, from) ? from - 1 : from;
  const end = cutsPair(text, to) ? to + 1 : to;
  const whole = text.slice(start, from) + insert + text.slice(to, end);
  return { from: start, to: end, insert: whole.toWellFormed() };
}
