/** Which parts of a text this device has written, to find those that a server has dropped. */
import type { TextEdit } from '../../protocol/types.ts';
import { diffTexts } from '../../text/diff.ts';
import { invertEdits } from '../../text/edits.ts';

/** Ascending, and neither empty, overlapping nor adjacent. */
export type OwnWords = readonly Range[];
type Range = Readonly<Record<'from' | 'to', number>>;

/** Others can split the ranges with each edit. Only the longest are kept. */
const maxRanges = 1000;

export function onOwnEdit(own: OwnWords, edits: readonly TextEdit[]): OwnWords {
  // What would be undone is where the inserted text is now.
  return join([...onEdit(own, edits), ...invertEdits(edits, '')]);
}

/** An edit of another device. */
export function onEdit(own: OwnWords, edits: readonly TextEdit[]): OwnWords {
  const after: Range[] = [];
  let index = 0;
  let moved = 0;
  for (const range of own) {
    let { from } = range;
    for (let edit = edits[index]; edit && edit.from < range.to; edit = edits[index]) {
      if (edit.from > from) after.push({ from: from + moved, to: edit.from + moved });
      if (edit.to > range.to) {
        from = range.to;
        break;
      }
      moved += edit.insert.length - (edit.to - edit.from);
      from = Math.max(from, edit.to);
      index += 1;
    }
    if (from < range.to) after.push({ from: from + moved, to: range.to + moved });
  }
  return join(after);
}

/** The own words that a later text does not have anywhere, one per line. */
export function lostWords(own: OwnWords, before: string, after: string): string {
  const removed = diffTexts(before, after);
  const lost = own.flatMap((range) =>
    removed.flatMap(({ from, to }) => before.slice(Math.max(from, range.from), Math.min(to, range.to)).trim()),
  );
  return lost.filter((words) => words && !after.includes(words)).join('\n');
}

function join(ranges: readonly Range[]): OwnWords {
  const joined: Range[] = [];
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else if (from < to) joined.push({ from, to });
  }
  if (joined.length <= maxRanges) return joined;
  const longest = joined.toSorted((one, other) => other.to - other.from - (one.to - one.from)).slice(0, maxRanges);
  return longest.toSorted((one, other) => one.from - other.from);
}
