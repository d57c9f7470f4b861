/** Maps a position through edits of the text around it. */
import type { TextEdit } from '../../../../src/client/index.ts';

/** The side of an insertion at this position: a caret stays before it, the start of a selection moves after it. */
export type Side = 'before' | 'after';

export function movedPosition(edits: readonly TextEdit[], position: number, side: Side = 'before'): number {
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
