/** Undo and redo of local edits, which stay valid while others edit the text. */
import { type Changes, rebase, toChanges, toEdits } from '../../text/changes.ts';
import { invertEdits, lengthAfter, type TextEdit } from '../../text/edits.ts';

const maxGroups = 1_000;
/** In UTF-16 code units of removed text. The last group is kept whatever its size. */
const maxLength = 4 * 1024 * 1024;

export function createUndoHistory(now: () => number) {
  const undoable = createBranch();
  let redoable = createBranch();
  let run: TypingRun | undefined;

  /** Pops the last group, and returns the edits that revert it. The caller applies them to `value`. */
  function take(from: Branch, to: Branch, value: string): TextEdit[] | undefined {
    run = undefined;
    const changes = from.pop();
    if (!changes) return undefined;
    const edits = toEdits(changes);
    to.push(inverseOf(edits, value));
    return edits;
  }

  return {
    canUndo: () => undoable.hasGroups(),
    canRedo: () => redoable.hasGroups(),

    /** Edits were made here, on the text `before`. */
    record(edits: readonly TextEdit[], before: string): void {
      const inverse = inverseOf(edits, before);
      const single = edits.length === 1 ? edits[0] : undefined;
      const isContinued = run !== undefined && single !== undefined && continues(run, single, now());
      if (isContinued) undoable.extend(inverse);
      else undoable.push(inverse);
      run = single && nextRun(isContinued ? run : undefined, single, now());
      redoable = createBranch();
    },

    undo: (value: string) => take(undoable, redoable, value),
    redo: (value: string) => take(redoable, undoable, value),

    endGroup(): void {
      run = undefined;
    },

    onRemoteChange(changes: Changes): void {
      if (changes.empty) return;
      run = run && rebaseRun(run, changes);
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

function lengthOf(groups: readonly Group[]): number {
  let length = 0;
  const add = (_from: number, _to: number, fromAfter: number, toAfter: number) => {
    length += toAfter - fromAfter;
  };
  for (const { inverse } of groups) inverse.iterChanges(add);
  return length;
}

const maxPauseMs = 1_000;
/** In UTF-16 code units. The next word starts another run. */
const longRun = 20;

/** Letters that were typed or removed one after the other. The end of removed ones is their start. */
interface TypingRun {
  readonly isInserting: boolean;
  readonly start: number;
  readonly end: number;
  /** The time of the last edit. */
  readonly at: number;
  /** Whether the last character ends a word. */
  readonly isBetweenWords: boolean;
}

function continues({ isInserting, start, end, at, isBetweenWords }: TypingRun, edit: TextEdit, now: number): boolean {
  const { from, to, insert } = edit;
  if (now - at >= maxPauseMs || isInserting !== (insert !== '')) return false;
  if (!isInserting) return to - from <= 2 && (to === start || from === start);
  if (isBetweenWords && end - start >= longRun && !endsWord(insert)) return false;
  const isNext = from === end && to === end && isOneCharacter(insert);
  // Input methods and autocorrection replace what was typed.
  const isCorrection = from >= start && to === end && from < end;
  return isNext || isCorrection;
}

/** The run after an edit, which continues `run` or starts another; undefined for an edit on its own, such as a paste. */
function nextRun(run: TypingRun | undefined, { from, to, insert }: TextEdit, at: number): TypingRun | undefined {
  if (insert === '')
    return to - from <= 2 ? { isInserting: false, start: from, end: from, at, isBetweenWords: false } : undefined;
  if (/[\r\n]/.test(insert) || !(run || isOneCharacter(insert))) return undefined;
  return {
    isInserting: true,
    start: run?.start ?? from,
    end: from + insert.length,
    at,
    isBetweenWords: endsWord(insert),
  };
}

/** The run at its position after changes of others; undefined if they removed it. */
function rebaseRun(run: TypingRun, changes: Changes): TypingRun | undefined {
  const end = changes.mapPos(run.end, -1);
  const start = run.isInserting ? changes.mapPos(run.start, 1) : end;
  return run.isInserting && start >= end ? undefined : { ...run, start, end };
}

/** One code point or a line break. A character of several code points is treated like a paste. */
const isOneCharacter = (text: string): boolean => text.length === 1 || (text.length === 2 && /^(.|\r\n)$/su.test(text));

/** Chinese and Japanese have punctuation instead of spaces. */
const endsWord = (text: string): boolean => /[\s\u3001-\u301f\uff01-\uff0f\uff1a-\uff20]$/.test(text);

/** Composing costs as much as both sides, so only blocks of equal size are composed: each change a few times. */
class CollectedChanges {
  readonly #blocks: { changes: Changes; size: number }[] = [];

  add(changes: Changes): void {
    this.#blocks.push({ changes, size: 1 });
    const sizeAt = (index: number) => this.#blocks.at(index)?.size ?? Number.POSITIVE_INFINITY;
    while (sizeAt(-1) >= sizeAt(-2)) this.#joinLast();
  }

  /** Returns all changes as one; undefined if there are none. */
  compose(): Changes | undefined {
    while (this.#blocks.length > 1) this.#joinLast();
    return this.#blocks[0]?.changes;
  }

  #joinLast(): void {
    const [last, before] = [this.#blocks.pop(), this.#blocks.pop()];
    if (!last || !before) return;
    this.#blocks.push({ changes: before.changes.compose(last.changes), size: before.size + last.size });
  }
}
