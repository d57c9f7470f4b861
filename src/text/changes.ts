/** Edits as values that can be rebased, composed and inverted, by CodeMirror's change sets. */
import { ChangeSet, type Text } from '@codemirror/state';
import type { TextEdit } from './edits.ts';

export type Changes = ChangeSet;

/**
 * No text has two high surrogates in a row, so inserted text is never split into lines: every string comes back as it
 * was, and a million line feeds cost no more than a million letters.
 */
const lineSeparator = '\ud800\ud800';

/** The edits must be in range, ascending and not overlapping. */
export const toChanges = (edits: readonly TextEdit[], length: number): Changes =>
  normalize(ChangeSet.of([...edits], length, lineSeparator));

export const noChanges = (length: number): Changes => ChangeSet.empty(length);

export function toEdits(changes: Changes): TextEdit[] {
  const edits: TextEdit[] = [];
  changes.iterChanges((from, to, _fromAfter, _toAfter, inserted) => {
    edits.push({ from, to, insert: inserted.toString() });
  });
  return edits;
}

/** Two changes of the same text, each rebased onto the result of the other: applied in either order they agree. */
export interface Rebased {
  mine: Changes;
  theirs: Changes;
}

/**
 * Client and server rebase an edit step by step over the same log, from the form that it had on the wire. The results
 * are not normalized in between: that would change where further steps put insertions.
 */
export function rebase(mine: Changes, theirs: Changes, mineFirst: boolean): Rebased {
  return { mine: mine.map(theirs, mineFirst), theirs: theirs.map(mine, !mineFirst) };
}

/** Adjacent changes as one: the form that they have as edits. Returns the same object where they are so already. */
export function normalize(changes: Changes): Changes {
  if (!hasAdjacentChanges(changes)) return changes;
  const joined: { from: number; to: number; insert: Text }[] = [];
  changes.iterChanges((from, to, _fromAfter, _toAfter, insert) => joined.push({ from, to, insert }));
  return ChangeSet.of(joined, changes.length, lineSeparator);
}

function hasAdjacentChanges(changes: Changes): boolean {
  let end = -1;
  let isAdjacent = false;
  changes.iterChanges((from, to) => {
    isAdjacent ||= from === end;
    end = to;
  }, true);
  return isAdjacent;
}
