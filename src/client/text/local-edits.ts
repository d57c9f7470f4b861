/** Edits as a program makes them, turned into edits that every replica can apply. */
import { cutsPair, findProblem, type TextEdit } from '../../text/edits.ts';

/**
 * Without edits that change nothing, adjacent ones joined, and well-formed: an edit that cuts a surrogate pair is
 * widened to the whole pair. Throws a RangeError for positions that the text does not have.
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
  if (wrong) throw new RangeError(`${wrong.from} to ${wrong.to} is not a range of a text of ${length} code units.`);
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

/** With the kept half of a pair that it would cut, so that the whole becomes one well-formed edit. */
function widen({ from, to, insert }: TextEdit, text: string): TextEdit {
  const start = cutsPair(text, from) ? from - 1 : from;
  const end = cutsPair(text, to) ? to + 1 : to;
  const whole = text.slice(start, from) + insert + text.slice(to, end);
  return { from: start, to: end, insert: whole.toWellFormed() };
}
