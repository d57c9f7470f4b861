/** The encryption of a room as its client uses it: for requests, live channels and a shared text. */
import type { SeenVersion } from '../protocol/sealed.ts';
import type { ClientMessage, Join, ServerMessage } from '../protocol/types.ts';

/** The encryption of a room, for its live channel and its requests. The code is loaded on demand. */
export interface RoomEncryption {
  /** Loads the code, asks the server for the salt and derives the keys, once. Fails if the room is not encrypted. */
  unlock(): Promise<UnlockedRoom>;
  /** Starts to unlock the room. Resolves when the server has sent the salt, before the keys are derived. */
  requestSalt(): Promise<void>;
}

/** An encrypted room whose keys are known. */
export interface UnlockedRoom {
  /** The value of the header `X-Room-Auth`, and of `auth` in `join`; undefined with a link. */
  readonly auth: string | undefined;
  /** A channel with a shared text receives edits; one without receives whole texts. */
  createCodec(text: SealedStart | undefined): ChannelCodec;
}

/** A shared text from an earlier session, whose chain of versions continues. */
export interface SealedStart {
  readonly content: string;
  readonly timestamp: string;
  readonly seen?: SeenVersion | undefined;
}

/** Seals the messages to the server and opens those from it, at the edge of a live channel. */
export interface ChannelCodec {
  /** Own words that are missing in this version, and nothing proves that others have removed them. Asked once. */
  takeLost(version: number): string | undefined;
  /** The position of this version, if it is the newest on this channel or the one before. */
  seenAt(version: number): SeenVersion | undefined;
  /** Adds the key, seals the name of the device, and requests a snapshot unless the server can continue from here. */
  join(join: Join): Join;
  /** Returns a function that seals messages and sends them. */
  onConnected(link: SealedLink): (message: ClientMessage) => void;
  onDisconnected(): void;
  /** Throws an EncryptionError for everything that does not open or does not continue what was seen. */
  open(message: ServerMessage): ServerMessage;
}

/** The connection below a codec. */
export interface SealedLink {
  send(message: ClientMessage): void;
  /** Delivers a message that the server would have sent, such as the refusal of a text that is too long. */
  receive(message: ServerMessage): void;
}
