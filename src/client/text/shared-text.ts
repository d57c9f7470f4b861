/** The text of a room, edited here and elsewhere at the same time. */
import type { TextEdit } from '../../protocol/types.ts';
import type { PoproomError } from '../error.ts';

/**
 * Where the edits of this device are:
 * - `loading`: the text has not been received yet;
 * - `synchronized`: the server has stored everything;
 * - `awaiting-answer`: an edit was sent, or waits for a connection, and is not confirmed;
 * - `awaiting-answer-with-buffer`: the same, and there are newer edits to send after it.
 */
export type TextState = 'loading' | 'synchronized' | 'awaiting-answer' | 'awaiting-answer-with-buffer';

/** A change of `value`, as it is told to listeners. */
export interface TextChange {
  /** From the value before to the value now; ascending, not overlapping, in UTF-16 code units. */
  edits: readonly TextEdit[];
  /** `local` is `edit`, `insert`, `append` and `replace`; `remote` is everything that came from the server. */
  origin: 'local' | 'undo' | 'redo' | 'remote';
  /** The device that made a remote change, where it is known. */
  deviceId?: string | undefined;
}

/** Edits that the server has not confirmed, in a form that survives a reload. It is JSON. */
export interface SavedText {
  /** -1 where no text had been received yet. */
  version: number;
  timestamp: string;
  /** The text of that version. */
  content: string;
  deviceId: string;
  /** Sent, and maybe stored: it keeps its ref, so that it is stored once. */
  sent?: { ref: string; edits: TextEdit[] } | undefined;
  /** To be sent after it. */
  buffer?: TextEdit[] | undefined;
}

export interface TextEvents {
  change: (change: TextChange) => void;
  /** The state, the connection or the refusal changed. */
  state: () => void;
}

export interface SharedText {
  readonly value: string;
  /** Of the newest text received; -1 before the first. */
  readonly version: number;
  /** When that version was written; empty before the first. */
  readonly timestamp: string;
  readonly state: TextState;
  readonly isOnline: boolean;
  /** Why the last edit was not stored; it is sent again with the next edit. */
  readonly refusal: PoproomError | undefined;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Replaces ranges of `value`. Throws a RangeError for positions that it does not have. */
  edit(edits: readonly TextEdit[]): void;
  insert(position: number, text: string): void;
  append(text: string): void;
  /** Makes this the whole text, by the smallest edits. */
  replace(text: string): void;
  /** Takes back the last group of edits made here, and only those. Returns what it changed. */
  undo(): TextChange | undefined;
  redo(): TextChange | undefined;
  /** Ends the group of edits that one undo takes back, such as when the caret was moved. */
  endGroup(): void;
  /** Calls the listener until the returned function is called. */
  on<E extends keyof TextEvents>(event: E, listener: TextEvents[E]): () => void;
  /** Resolves when the server has stored everything; rejects with a refusal, or when the text is closed before. */
  synchronized(): Promise<void>;
  /** Sends what waits without delay. */
  flush(): void;
  /** What to keep over a reload; undefined when the server has stored everything. */
  save(): SavedText | undefined;
  /** Leaves the room, where this text entered it; sends nothing more. */
  close(): void;
}
