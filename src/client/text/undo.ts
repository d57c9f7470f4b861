/** Undo and redo of local edits, which stay valid while others edit the text. */
import { type Changes, rebase, toChanges, toEdits } from '../../text/changes.ts';
import { invertEdits, lengthAfter, type TextEdit } from '../../text/edits.ts';
import { CollectedChanges } from './collected-changes.ts';
import { startRun, type TypingRun } from './typing-run.ts';

const maxGroups = 1_000;
/** In UTF-16 code units of removed text. The last group is kept whatever its size. */
const maxLength = 4 * 1024 * 1024;

export interface UndoHistory {
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Edits were made here, on the text `before`. */
  record(edits: readonly TextEdit[], before: string): void;
  /** Pops the last group, and returns the edits that revert it. The caller applies them to `value`. */
  undo(value: string): TextEdit[] | undefined;
  redo(value: string): TextEdit[] | undefined;
  endGroup(): void;
  /** Others changed the text. */
  onRemoteChange(changes: Changes): void;
}

export function createUndoHistory(now: () => number): UndoHistory {
  const undoable = createBranch();
  let redoable = createBranch();
  let run: TypingRun | undefined;

  function take(from: Branch, to: Branch, value: string): TextEdit[] | undefined {
    run = undefined;
    const changes = from.pop();
    if (!changes) return undefined;
    const edits = toEdits(changes);
    to.push(inverseOf(edits, value));
    return edits;
  }

  return {
    get canUndo() {
      return undoable.hasGroups();
    },

    get canRedo() {
      return redoable.hasGroups();
    },

    record(edits, before) {
      const inverse = inverseOf(edits, before);
      const continued = run?.continueWith(edits, now());
      if (continued) undoable.extend(inverse);
      else undoable.push(inverse);
      run = continued ? continued.run : startRun(edits, now());
      redoable = createBranch();
    },

    undo: (value) => take(undoable, redoable, value),
    redo: (value) => take(redoable, undoable, value),

    endGroup() {
      run = undefined;
    },

    onRemoteChange(changes) {
      if (changes.empty) return;
      run = run?.rebase(changes);
      undoable.onRemoteChange(changes);
      redoable.onRemoteChange(changes);
    },
  };
}

const inverseOf = (edits: readonly TextEdit[], before: string): Changes =>
  toChanges(invertEdits(edits, before), lengthAfter(before.length, edits));

interface Group {
  /** Reverts the group, based on the text right after it. */
  inverse: Changes;
  /** The changes of others between the group before and this one, rebased over everything undone since. */
  remoteBefore: CollectedChanges;
}

type Branch = ReturnType<typeof createBranch>;

/** A stack of groups. Remote changes are collected above the last group, which is rebased on demand. */
function createBranch() {
  const groups: Group[] = [];
  /** The changes of others since the last group. */
  let remote = new CollectedChanges();

  /** Rebases the last group onto the current text. */
  function rebaseLast(): Group | undefined {
    const last = groups.at(-1);
    const changes = remote.compose();
    if (!last || !changes) return last;
    const { mine, theirs } = rebase(last.inverse, changes, false);
    last.inverse = mine;
    last.remoteBefore.add(theirs);
    remote = new CollectedChanges();
    return last;
  }

  /** Returns the last group that still has an effect. */
  function lastEffective(): Group | undefined {
    let last = rebaseLast();
    while (last?.inverse.empty) {
      removeLast();
      last = rebaseLast();
    }
    return last;
  }

  function removeLast(): void {
    const last = groups.pop();
    remote = groups.length > 0 && last ? last.remoteBefore : new CollectedChanges();
  }

  function push(inverse: Changes): void {
    groups.push({ inverse, remoteBefore: remote });
    remote = new CollectedChanges();
    while (groups.length > maxGroups || (groups.length > 1 && lengthOf(groups) > maxLength)) groups.shift();
  }

  return {
    push,
    hasGroups: (): boolean => lastEffective() !== undefined,

    /** Adds an edit to the last group. Remote changes between the two go before both. */
    extend(inverse: Changes): void {
      const last = rebaseLast();
      if (last) last.inverse = inverse.compose(last.inverse);
      else push(inverse);
    },

    pop(): Changes | undefined {
      const last = lastEffective();
      if (last) removeLast();
      return last?.inverse;
    },

    onRemoteChange(changes: Changes): void {
      if (groups.length > 0) remote.add(changes);
    },
  };
}

const lengthOf = (groups: readonly Group[]): number =>
  groups.reduce((sum, { inverse }) => sum + insertedBy(inverse), 0);

function insertedBy(changes: Changes): number {
  let length = 0;
  changes.iterChanges((_from, _to, fromAfter, toAfter) => {
    length += toAfter - fromAfter;
  });
  return length;
}
