/** Edits of a text: replaced ranges, as sent by clients and stored in the log of a room. */

/** Replaces the range from `from` to `to`, in UTF-16 code units of the previous text, by `insert`. */
export interface TextEdit {
  from: number;
  to: number;
  insert: string;
}

/** The maximum per message of the protocol. A client with more sends one larger range instead. */
export const maxEdits = 1000;

/** Edits are in ascending order and do not overlap. All positions refer to the same text. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let position = 0;
  for (const { from, to, insert } of edits) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}

export const lengthAfter = (length: number, edits: readonly TextEdit[]): number =>
  edits.reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), length);

export function invertEdits(edits: readonly TextEdit[], before: string): TextEdit[] {
  let shift = 0;
  return edits.map(({ from, to, insert }) => {
    const start = from + shift;
    shift += insert.length - (to - from);
    return { from: start, to: start + insert.length, insert: before.slice(from, to) };
  });
}

/** Copies of the edits, without empty ones. Adjacent ones become one. */
export function joinAdjacent(edits: readonly TextEdit[]): TextEdit[] {
  const joined: TextEdit[] = [];
  for (const { from, to, insert } of edits) {
    if (from === to && insert === '') continue;
    const last = joined.at(-1);
    if (last?.to === from) {
      last.to = to;
      last.insert += insert;
    } else joined.push({ from, to, insert });
  }
  return joined;
}

export type EditProblem = 'out-of-range' | 'overlapping' | 'not-well-formed';

/** The first problem of the edits for a text of this length, with its index; undefined if there is none. */
export function findProblem(
  edits: readonly TextEdit[],
  length: number,
): { problem: EditProblem; index: number } | undefined {
  let position = 0;
  for (const [index, { from, to, insert }] of edits.entries()) {
    if (from > to || to > length) return { problem: 'out-of-range', index };
    if (from < position) return { problem: 'overlapping', index };
    if (!insert.isWellFormed()) return { problem: 'not-well-formed', index };
    position = to;
  }
  return undefined;
}

/** Whether a position between these two code units splits a surrogate pair. */
export const splitsPair = (before: number, after: number): boolean =>
  before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;

/** Whether this position of the text is inside a surrogate pair. */
export const cutsPair = (text: string, position: number): boolean =>
  splitsPair(text.charCodeAt(position - 1), text.charCodeAt(position));

/**
 * Whether the insertion of one device goes before that of another at the same position. Ordering by device keeps the
 * text of each device in one piece; the order of arrival would interleave words. A write without a device goes last.
 * For equal devices it is false: the insertion in the log goes first.
 */
export function insertsBefore(device: string | undefined, other: string | undefined): boolean {
  if (device === undefined) return false;
  return other === undefined || device < other;
}
