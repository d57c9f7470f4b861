/** Finds small edits from one text to another in bounded time. */
import { diffArrays } from 'diff/lib/diff/array.js';
import { cutsPair, maxEdits, type TextEdit } from './edits.ts';

/** The work grows with the square of the differences. This limit takes about 20 ms; beyond it, edits are larger. */
const maxWork = 100_000;
const maxDifferences = 300;
const maxLinesLength = 512 * 1024;
const maxLines = 20_000;
const maxWordsLength = 8 * 1024;

export function diffTexts(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const whole = trim({ from: 0, to: before.length, insert: after }, before);
  const edits = refine(whole, before, { left: maxWork });
  return edits.length > maxEdits ? [whole] : edits;
}

/** The remaining work for all parts of a diff. */
interface Budget {
  left: number;
}

/** Removes the common prefix and suffix of the replaced and the inserted text. */
function trim({ from, to, insert }: TextEdit, before: string): TextEdit {
  const { start, end } = commonEdges(before.slice(from, to), insert);
  return { from: from + start, to: to - end, insert: insert.slice(start, insert.length - end) };
}

/** Splits a long edit by lines, a short one by words. */
function refine(edit: TextEdit, before: string, budget: Budget): TextEdit[] {
  const removed = before.slice(edit.from, edit.to);
  if (removed === '' || edit.insert === '') return [edit];
  const length = removed.length + edit.insert.length;
  if (length <= maxWordsLength) return byWords(edit, removed, budget);
  if (length > maxLinesLength) return [edit];
  const [lines, newLines] = [linesOf(removed), linesOf(edit.insert)];
  if (lines.length + newLines.length > maxLines) return [edit];
  const hunks = split(edit, lines, newLines, budget);
  if (!hunks || hunks.length < 2) return [edit];
  return hunks.flatMap((hunk) => refine(trim(hunk, before), before, budget));
}

function byWords(edit: TextEdit, removed: string, budget: Budget): TextEdit[] {
  const [words, newWords] = [wordsOf(removed), wordsOf(edit.insert)];
  if (words.length === 1 && newWords.length === 1) return [edit];
  return split(edit, words, newWords, budget) ?? [edit];
}

/** Splits the edit into several with unchanged tokens between them; undefined if there are too many differences. */
function split({ from }: TextEdit, before: string[], after: string[], budget: Budget): TextEdit[] | undefined {
  const maxEditLength = Math.min(maxDifferences, Math.floor(Math.sqrt(budget.left)));
  const parts = diffArrays(before, after, { maxEditLength });
  const differences = parts?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
  budget.left -= (differences ?? maxEditLength) ** 2;
  if (!parts) return undefined;
  const edits: TextEdit[] = [];
  let position = from;
  let last: TextEdit | undefined;
  for (const { added, removed, value } of parts) {
    const text = value.join('');
    if (!added && !removed) {
      position += text.length;
      last = undefined;
      continue;
    }
    if (!last) {
      last = { from: position, to: position, insert: '' };
      edits.push(last);
    }
    if (added) last.insert += text;
    else last.to = position += text.length;
  }
  return edits;
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
/** Words, and every other character separately. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}\p{M}_]+|\r\n|./gsu) ?? [];

/** The lengths of the common prefix and suffix, without overlap and without splitting a surrogate pair. */
function commonEdges(one: string, other: string): { start: number; end: number } {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one.charCodeAt(start) === other.charCodeAt(start)) start++;
  if (cutsPair(one, start) || cutsPair(other, start)) start--;
  let end = 0;
  const most = shortest - start;
  while (end < most && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end++;
  if (cutsPair(one, one.length - end) || cutsPair(other, other.length - end)) end--;
  return { start, end };
}
