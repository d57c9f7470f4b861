/** Which edits one undo takes back together: runs of typing or deleting, as in editors. */
import type { Changes } from '../../text/changes.ts';
import type { TextEdit } from '../../text/edits.ts';

const maxPauseMs = 500;

export interface TypingRun {
  /** Undefined where the edit is not part of the run; the run in it is undefined where the edit ends it. */
  continueWith(edits: readonly TextEdit[], at: number): { run: TypingRun | undefined } | undefined;
  /** The run where it is after others changed the text; undefined if they left nothing of it. */
  moveOver(changes: Changes): TypingRun | undefined;
}

/** The run that an edit begins; undefined for one that stands alone, such as a paste. */
export function startRun(edits: readonly TextEdit[], at: number): TypingRun | undefined {
  const [edit] = edits;
  if (!edit || edits.length > 1) return undefined;
  const { from, to, insert } = edit;
  if (insert === '') return to - from <= 2 ? deletingRun(from, at) : undefined;
  if (!isOneCharacter(insert) || insert === '\n') return undefined;
  return insertingRun(from, from + insert.length, at);
}

function insertingRun(start: number, end: number, at: number): TypingRun {
  return {
    continueWith([edit, ...others], now) {
      if (!edit || others.length > 0 || now - at >= maxPauseMs || edit.insert === '') return undefined;
      const isNext = edit.from === end && edit.to === end && isOneCharacter(edit.insert);
      // An input method replaces what was typed by what was meant.
      const isCorrection = edit.from >= start && edit.to === end && edit.from < end;
      if (!isNext && !isCorrection) return undefined;
      const isEnd = edit.insert.includes('\n');
      return { run: isEnd ? undefined : insertingRun(start, edit.from + edit.insert.length, now) };
    },

    moveOver(changes) {
      const [from, to] = [changes.mapPos(start, 1), changes.mapPos(end, -1)];
      return from < to ? insertingRun(from, to, at) : undefined;
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

    moveOver: (changes) => deletingRun(changes.mapPos(position, -1), at),
  };
}

/** One code point; a character of several is treated like a paste, and is a group of its own. */
const isOneCharacter = (text: string): boolean => text.length === 1 || (text.length === 2 && /^.$/su.test(text));
