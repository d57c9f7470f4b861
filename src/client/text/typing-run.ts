/** Groups edits for undo: runs of typing or deleting, as in editors. */
import type { Changes } from '../../text/changes.ts';
import type { TextEdit } from '../../text/edits.ts';

const maxPauseMs = 1_000;
/** In UTF-16 code units. The next word starts another run. */
const longRun = 20;

export interface TypingRun {
  /** Returns undefined if the edit does not continue the run; `run` is undefined if the edit ends it. */
  continueWith(edits: readonly TextEdit[], at: number): { run: TypingRun | undefined } | undefined;
  /** Returns the run at its position after remote changes; undefined if they removed it. */
  rebase(changes: Changes): TypingRun | undefined;
}

/** Returns the run that an edit starts; undefined for an edit on its own, such as a paste. */
export function startRun(edits: readonly TextEdit[], at: number): TypingRun | undefined {
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
