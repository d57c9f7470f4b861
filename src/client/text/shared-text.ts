/** The text of a room, which several devices can edit at the same time. */
import type { SeenVersion } from '../../protocol/sealed.ts';
import type { EditText, Join, ServerMessage, TextEdit } from '../../protocol/types.ts';
import type { PoproomError } from '../error.ts';
import type { ChannelCodec, SealedStart } from '../room-encryption.ts';

/**
 * The state of the edits of this device:
 * - `loading`: the text has not been received yet;
 * - `synchronized`: the server has stored everything;
 * - `awaiting-answer`: an edit was sent or waits for a connection, and is not confirmed yet;
 * - `awaiting-answer-with-buffer`: the same, and newer edits will be sent after it.
 */
export type TextState = 'loading' | 'synchronized' | 'awaiting-answer' | 'awaiting-answer-with-buffer';

/** A change of `value`. */
export interface TextChange {
  /** Turn the previous value into the current one. Ascending, not overlapping, in UTF-16 code units. */
  edits: readonly TextEdit[];
  /** `local`: by `edit`, `insert`, `append` or `replace`; `remote`: from the server. */
  origin: 'local' | 'undo' | 'redo' | 'remote';
  /** The device that made a remote change, if known. */
  deviceId?: string | undefined;
}

/** Edits that the server has not confirmed, as JSON that can be kept across a reload. */
export interface SavedText {
  /** -1 if no text had been received yet. */
  version: number;
  timestamp: string;
  /** The length of that text, in UTF-16 code units. */
  length: number;
  /** The text of that version. A program may drop it: the value is then empty until the server has sent the text. */
  content?: string | undefined;
  deviceId: string;
  /** Sent and possibly stored. It keeps its ref, so that the server stores it only once. */
  sent?: { ref: string; edits: TextEdit[] } | undefined;
  /** To be sent after `sent`. */
  buffer?: TextEdit[] | undefined;
  /** In an encrypted room: the hash of that version. */
  seen?: SeenVersion | undefined;
}

export interface TextEvents {
  /** The value changed. */
  change: (change: TextChange) => void;
  /** `state`, `isOnline` or `refusal` changed. */
  state: () => void;
  /**
   * In an encrypted room: words of this device that the server had confirmed are missing in the text that it sent after
   * a gap. Others may have removed them, or the server has dropped them; nothing proves either.
   */
  lost: (words: string) => void;
}

export interface SharedText {
  /** The text, including edits that the server has not stored yet. */
  readonly value: string;
  /** Version of the newest text received; -1 before the first. */
  readonly version: number;
  /** When that version was written; empty before the first. */
  readonly timestamp: string;
  readonly state: TextState;
  readonly isOnline: boolean;
  /** Why the server refused the last edit, which is sent again with the next edit. */
  readonly refusal: PoproomError | undefined;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /**
   * Where a position in the text of a version is in `value` now, for example the caret of another device. Undefined if
   * the version has not arrived yet, or is not one of the last hundred.
   */
  positionAt(version: number, position: number): number | undefined;
  /** Replaces ranges of `value`. Throws a RangeError for positions outside of it. */
  edit(edits: readonly TextEdit[]): void;
  insert(position: number, text: string): void;
  append(text: string): void;
  /** Replaces the whole text. Unchanged lines and words stay in place. */
  replace(text: string): void;
  /** Reverts the last group of edits of this device, and no others. Returns the change. */
  undo(): TextChange | undefined;
  redo(): TextChange | undefined;
  /** Ends the group of edits that one undo reverts, for example when the caret was moved. */
  endGroup(): void;
  /** Adds a listener. The returned function removes it. */
  on<E extends keyof TextEvents>(event: E, listener: TextEvents[E]): () => void;
  /** Resolves when the server has stored everything. Rejects if it refuses an edit, or if the text is closed before. */
  synchronized(): Promise<void>;
  /** Sends pending edits without delay. In an encrypted room, they otherwise wait up to 250 ms. */
  flush(): void;
  /** Returns the state to keep across a reload; undefined if the server has stored everything. */
  save(): SavedText | undefined;
  /** Stops sending and receiving. A text from `room.text()` leaves the room. */
  close(): void;
}

/** A live channel that has joined the room. */
export interface TextLink {
  send(message: EditText): void;
  /** Closes the connection and rejoins. */
  reconnect(): void;
}

export interface TextChannel {
  /** The room is encrypted: creates the codec that continues the versions of this text. */
  bindCodec(create: (start: SealedStart) => ChannelCodec): ChannelCodec;
  /** Returns the fields for a join. A text without a device id uses that of the client, or a random one. */
  join(clientDeviceId: string | undefined): TextJoin;
  /** The server has admitted the session. */
  onConnected(link: TextLink): void;
  onMessage(message: ServerMessage): void;
  onDisconnected(): void;
  /** Joining failed permanently, or the room has ended. */
  onFailed(error: PoproomError): void;
}

export type TextJoin = Pick<Join, 'version' | 'timestamp' | 'diverged'> & {
  deviceId: string;
  edits: true;
  /** Whether the text needs a snapshot even if the channel does not. */
  needsSnapshot: boolean;
};

export const channels = new WeakMap<SharedText, TextChannel>();

export function channelOf(text: SharedText): TextChannel {
  const channel = channels.get(text);
  if (!channel) throw new TypeError('A text must be created by createSharedText() or room.text().');
  return channel;
}
