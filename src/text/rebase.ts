/** Rebases an edit over the newer entries of a log, at a cost that hardly grows with the number of its pieces. */
import { insertsBefore, joinAdjacent, type TextEdit } from './edits.ts';

export interface LoggedEdits {
  edits: readonly TextEdit[];
  deviceId?: string | undefined;
}

/** More pieces would become more ranges than an edit may have: few of them are adjacent. */
const maxPieces = 2000;
/** Takes about 15 ms. Ten thousand entries of three ranges need half of it. */
const maxSteps = 200_000;
/** Moving a piece takes this share of a step. */
const moveShare = 1 / 16;

/**
 * The edits as they apply after all entries; undefined if that takes too many steps or pieces. The result is exactly
 * the one of mapping change sets entry by entry (`changes.ts`), as clients do.
 */
export function rebaseOver(edits: readonly TextEdit[], deviceId: string | undefined, newer: readonly LoggedEdits[]) {
  if (newer.length === 0) return edits;
  /** Ascending. Adjacent pieces stay separate, like the sections of a change set: that decides about later ties. */
  const pieces = joinAdjacent(edits);
  let steps = 0;
  for (const { edits: others, deviceId: other } of newer) {
    const theirs = others.length > 1 ? joinAdjacent(others) : others;
    const isMineFirst = insertsBefore(deviceId, other);
    // From the last edit to the first, so that the positions of the others stay valid.
    for (let index = theirs.length - 1; index >= 0; index--)
      steps += mapOver(pieces, theirs[index] as TextEdit, isMineFirst);
    if (pieces.length > maxPieces || steps > maxSteps) return undefined;
  }
  return joinAdjacent(pieces);
}

/** Changes the pieces. Returns how many steps that took. */
function mapOver(pieces: TextEdit[], theirs: TextEdit, isMineFirst: boolean): number {
  const first = findFrom(pieces, theirs.from);
  const { mapped, next } = mapPieces(pieces, first, theirs, isMineFirst);
  const moved = pieces.length - next;
  if (next > first) pieces.splice(first, next - first, ...mapped);
  const shift = shiftOf(theirs);
  for (let index = first + mapped.length; shift !== 0 && index < pieces.length; index++) {
    const piece = pieces[index] as TextEdit;
    piece.from += shift;
    piece.to += shift;
  }
  return 1 + next - first + moved * moveShare;
}

/** The index of the first piece that ends at the position or later. */
function findFrom(pieces: readonly TextEdit[], position: number): number {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle] as TextEdit).to < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

const shiftOf = ({ from, to, insert }: TextEdit) => insert.length - (to - from);

/** Maps the pieces that the edit touches. `next` is the index after them. */
function mapPieces(pieces: readonly TextEdit[], first: number, theirs: TextEdit, isMineFirst: boolean) {
  const { from, to, insert } = theirs;
  const shift = shiftOf(theirs);
  const end = to + shift;
  const mapped: TextEdit[] = [];
  let next = first;
  let isInserted = false;
  for (let mine = pieces[next]; mine && goesFirst(mine, theirs, isMineFirst); mine = pieces[next]) {
    // A removal within a removed range only shortens it.
    const isWithin = insert === '' && to < mine.to;
    addPiece(mapped, mine.from, isWithin ? mine.to + shift : Math.min(mine.to, from), mine.insert);
    isInserted = mine.to > from && !isWithin;
    if (isInserted) break;
    next += 1;
  }
  // A text that is already removed need not be removed again, but insertions stay.
  for (let mine = pieces[next]; mine && mine.from < to; mine = pieces[next]) {
    addPiece(mapped, end, Math.max(end, mine.to + shift), isInserted ? '' : mine.insert);
    isInserted = false;
    next += 1;
  }
  return { mapped, next };
}

/** In the order of positions, then the shorter one, then by device. */
function goesFirst(mine: TextEdit, { from, to }: TextEdit, isMineFirst: boolean): boolean {
  if (mine.from !== from) return mine.from < from;
  const isShorter = mine.to < to;
  return isShorter || (to === mine.to && isMineFirst);
}

/** Joins removals, and insertions at the same position: that changes no result, and there are fewer pieces. */
function addPiece(pieces: TextEdit[], from: number, to: number, insert: string): void {
  if (from === to && insert === '') return;
  const last = pieces.at(-1);
  if (last?.to === from && last.insert === '' && insert === '') last.to = to;
  else if (last?.from === from && from === to) last.insert += insert;
  else pieces.push({ from, to, insert });
}
