/** Types that all ports share. */
import type { RoomCode } from '../../protocol/room-code.ts';

export type Clock = () => number;

/** The client that a request counts against: `key:ID` or an address. */
export type ClientId = string;

/** The owner of stored bytes, as keyed hashes: no address is stored. */
export interface Owner {
  client: string;
  /** The network that the address of the client belongs to; undefined for a key and for IPv4. */
  network: string | undefined;
}

export interface Room {
  code: RoomCode;
  createdAt: number;
  expiresAt: number;
  hasPin: boolean;
  /** For an encrypted room: the salt of its key, as base64url. */
  salt?: string;
  /** Undefined if it has none. */
  name: string | undefined;
  fileCount: number;
  fileBytes: number;
}

/** Why an operation found no room after its caller was admitted: it has expired, or it was deleted. */
export type MissingReason = 'expired' | 'gone';

/** An embedded engine returns the value immediately, a remote one a promise. A promise per request would be slow. */
export type MaybePromise<T> = T | Promise<T>;

/** Lines for the operator. Fields must not contain a PIN, key, text, file name, room code or query. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
