/** Undo and redo of local edits, which stay valid while others edit the text. */
import { type Changes, rebase, toChanges, toEdits } from '../../text/changes.ts';
import { invertEdits, lengthAfter, type TextEdit } from '../../text/edits.ts';

const maxGroups = 1_000;
/** In UTF-16 code units of removed text. The last group is kept whatever its size. */
const maxLength = 4 * 1024 * 1024;

interface UndoHistory {
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

const maxPauseMs = 1_000;
/** In UTF-16 code units. The next word starts another run. */
const longRun = 20;

interface TypingRun {
  /** Returns undefined if the edit does not continue the run; `run` is undefined if the edit ends it. */
  continueWith(edits: readonly TextEdit[], at: number): { run: TypingRun | undefined } | undefined;
  /** Returns the run at its position after remote changes; undefined if they removed it. */
  rebase(changes: Changes): TypingRun | undefined;
}

/** Returns the run that an edit starts; undefined for an edit on its own, such as a paste. */
function startRun(edits: readonly TextEdit[], at: number): TypingRun | undefined {
  const [edit] = edits;
  if (!edit || edits.length > 1) return undefined;
  const { from, to, insert } = edit;
  if (insert === '') return to - from <= 2 ? deletingRun(from, at) : undefined;
  if (!isOneCharacter(insert) || hasLineBreak(insert)) return undefined;
  return insertingRun(from, from + insert.length, at, endsWord(insert));
}

/** `isBetweenWords` if the last character ends a word. */
function insertingRun(start: number, end: number, at: number, isBetweenWords: boolean): TypingRun {
  return {
    continueWith([edit, ...others], now) {
      if (!edit || others.length > 0 || now - at >= maxPauseMs || edit.insert === '') return undefined;
      if (isBetweenWords && end - start >= longRun && !endsWord(edit.insert)) return undefined;
      const isNext = edit.from === end && edit.to === end && isOneCharacter(edit.insert);
      // Input methods and autocorrection replace what was typed.
      const isCorrection = edit.from >= start && edit.to === end && edit.from < end;
      if (!isNext && !isCorrection) return undefined;
      if (hasLineBreak(edit.insert)) return { run: undefined };
      return { run: insertingRun(start, edit.from + edit.insert.length, now, endsWord(edit.insert)) };
    },

    rebase(changes) {
      const [from, to] = [changes.mapPos(start, 1), changes.mapPos(end, -1)];
      return from < to ? insertingRun(from, to, at, isBetweenWords) : undefined;
    },
  };
}

function deletingRun(position: number, at: number): TypingRun {
  return {
    continueWith([edit, ...others], now) {
      if (!edit || others.length > 0 || now - at >= maxPauseMs || edit.insert !== '') return undefined;
      const isNext = edit.to - edit.from <= 2 && (edit.to === position || edit.from === position);
      return isNext ? { run: deletingRun(edit.from, now) } : undefined;
    },

    rebase: (changes) => deletingRun(changes.mapPos(position, -1), at),
  };
}

/** One code point or a line break. A character of several code points is treated like a paste. */
const isOneCharacter = (text: string): boolean => text.length === 1 || (text.length === 2 && /^(.|\r\n)$/su.test(text));

const hasLineBreak = (text: string): boolean => /[\r\n]/.test(text);

/** Chinese and Japanese have punctuation instead of spaces. */
const endsWord = (text: string): boolean => /[\s\u3001-\u301f\uff01-\uff0f\uff1a-\uff20]$/.test(text);

/**
 * The cost of composing grows with both sides, so adding to one ever-growing change would become slow. Composing blocks
 * of equal size instead involves each change only a few times.
 */
class CollectedChanges {
  readonly #blocks: { changes: Changes; size: number }[] = [];

  add(changes: Changes): void {
    this.#blocks.push({ changes, size: 1 });
    while (this.#hasEqualLast()) this.#joinLast();
  }

  /** Returns all changes as one; undefined if there are none. */
  compose(): Changes | undefined {
    while (this.#blocks.length > 1) this.#joinLast();
    return this.#blocks[0]?.changes;
  }

  #hasEqualLast(): boolean {
    const [before, last] = this.#blocks.slice(-2);
    return last !== undefined && last.size >= (before?.size ?? 0);
  }

  #joinLast(): void {
    const [last, before] = [this.#blocks.pop(), this.#blocks.pop()];
    if (!last || !before) return;
    this.#blocks.push({ changes: before.changes.compose(last.changes), size: before.size + last.size });
  }
}
