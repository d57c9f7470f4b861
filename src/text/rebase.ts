/** Rebases an edit over the newer entries of a log, at a cost that hardly grows with the number of its pieces. */
import { insertsBefore, type TextEdit } from './edits.ts';

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
export function rebaseOver(
  edits: readonly TextEdit[],
  deviceId: string | undefined,
  newer: readonly LoggedEdits[],
): readonly TextEdit[] | undefined {
  if (newer.length === 0) return edits;
  const rebased = new RebasedEdit(edits);
  for (const { edits: theirs, deviceId: other } of newer) {
    rebased.mapOver(theirs, insertsBefore(deviceId, other));
    if (rebased.pieces > maxPieces || rebased.steps > maxSteps) return undefined;
  }
  return rebased.toEdits();
}

class RebasedEdit {
  /** Ascending. Adjacent pieces stay separate, like the sections of a change set: that decides about later ties. */
  readonly #pieces: TextEdit[];
  /** The work so far. */
  steps = 0;

  constructor(edits: readonly TextEdit[]) {
    this.#pieces = joinAdjacent(edits);
  }

  get pieces(): number {
    return this.#pieces.length;
  }

  /** From the last edit to the first, so that the positions of the others stay valid. */
  mapOver(edits: readonly TextEdit[], isMineFirst: boolean): void {
    const theirs = edits.length > 1 ? joinAdjacent(edits) : edits;
    for (let index = theirs.length - 1; index >= 0; index--) this.#mapOverOne(theirs[index] as TextEdit, isMineFirst);
  }

  toEdits(): TextEdit[] {
    return joinAdjacent(this.#pieces);
  }

  #mapOverOne(theirs: TextEdit, isMineFirst: boolean): void {
    const first = this.#findFrom(theirs.from);
    const { mapped, next } = mapPieces(this.#pieces, first, theirs, isMineFirst);
    const moved = this.#pieces.length - next;
    this.steps += 1 + next - first + moved * moveShare;
    if (next > first) this.#pieces.splice(first, next - first, ...mapped);
    if (moved > 0) this.#move(first + mapped.length, theirs);
  }

  /** The index of the first piece that ends at the position or later. */
  #findFrom(position: number): number {
    let low = 0;
    let high = this.#pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle] as TextEdit).to < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #move(first: number, theirs: TextEdit): void {
    const shift = shiftOf(theirs);
    if (shift === 0) return;
    for (let index = first; index < this.#pieces.length; index++) {
      const piece = this.#pieces[index] as TextEdit;
      piece.from += shift;
      piece.to += shift;
    }
  }
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

/** Copies of the edits, without empty ones. */
function joinAdjacent(edits: readonly TextEdit[]): TextEdit[] {
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
