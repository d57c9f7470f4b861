/** Edits as CodeMirror change sets, which can be rebased, composed and inverted. */
import { ChangeSet, type Text } from '@codemirror/state';
import type { TextEdit } from './edits.ts';

export type Changes = ChangeSet;

/**
 * Well-formed text has no two high surrogates in a row, so inserted text is never split into lines: every string is
 * preserved, and a million line feeds cost no more than a million letters.
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

/** Two changes of the same text, each rebased onto the other. Both orders produce the same result. */
export type Rebased = { mine: Changes; theirs: Changes };

/**
 * Client and server rebase an edit step by step over the same log, starting from its transmitted form. Intermediate
 * results are not normalized, because that would change where later steps put insertions.
 */
export const rebase = (mine: Changes, theirs: Changes, isMineFirst: boolean): Rebased => ({
  mine: mine.map(theirs, isMineFirst),
  theirs: theirs.map(mine, !isMineFirst),
});

/** Joins adjacent changes, as in their form as edits. Returns the same object if there are none. */
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
