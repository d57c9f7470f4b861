/** Whole rooms and keys, for migrations. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { ClientId, Owner } from './basics.ts';
import type { ApiKey } from './clients.ts';
import type { RoomState } from './rooms.ts';
import type { Checkpoint, Content, LastRefs, TextEntry } from './texts.ts';

/** The complete data of a room, without counters of clients, attached devices, claims, and unfinished or removed files. */
export interface RoomRecord extends Pick<RoomState, 'seq' | 'files' | 'pinAttempts'> {
  content: Content;
  revision: number;
  /** The whole log up to the version of `content`, oldest first. */
  entries: readonly TextEntry[];
  lastRefs: LastRefs;
  /** Oldest first. */
  history: readonly Checkpoint[];
  keepsHistory: boolean;
  code: RoomCode;
  createdAt: number;
  expiresAt: number;
  pinMac: Uint8Array | undefined;
  /** For an encrypted room: the salt, and the version of `content.content`, which later entries lead from. */
  salt?: string;
  fullTextVersion?: number;
  name: string | undefined;
  owner: Owner | undefined;
  /** The bytes that the text counts for in the quota of the owner; undefined if it does not count. */
  textCharge: number | undefined;
  /** Clients that gave the correct PIN, least recent first. */
  trusted: ClientId[];
}

export interface KeyRecord extends ApiKey {
  hash: string;
}

/** Rooms and keys in full, for migration to another store. */
export interface Archive {
  /** The codes of all unexpired rooms, read in batches. Rooms that change during the read may be missed. */
  codes(now: number): AsyncIterable<RoomCode>;
  /** Undefined if there is no such room, or it has expired. */
  readRoom(code: RoomCode, now: number): Promise<RoomRecord | undefined>;
  /** Changes nothing if the code is in use, or was recently. */
  restoreRoom(record: RoomRecord, now: number): Promise<'restored' | 'taken'>;
  keys(): Promise<KeyRecord[]>;
  /** Changes nothing if a key has this id, or another active key has its name. */
  restoreKey(key: KeyRecord): Promise<'restored' | 'taken'>;
}
