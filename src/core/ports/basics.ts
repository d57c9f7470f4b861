/** Types that all ports share, and the port for requests that are repeated. */
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
  /** If each write moves its expiry: to this many milliseconds after the write. */
  extendMs?: number;
  /** For an encrypted room: the salt of its key, as base64url. */
  salt?: string;
  name: string | undefined;
  fileCount: number;
  fileBytes: number;
}

/** Why an operation found no room after its caller was admitted: it has expired, or it was deleted. */
export type MissingReason = 'expired' | 'gone';
/** The result of an operation in a room, or why there is no such room. */
export type InRoom<T> = Promise<T | MissingReason>;

/** An embedded engine returns the value immediately, a remote one a promise. A promise per request would be slow. */
export type MaybePromise<T> = T | Promise<T>;

/** Lines for the operator. Fields must not contain a PIN, key, text, file name, room code or query. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Of a request that runs once however often it is sent: the hashes of a client and of its key. Neither can be derived from them. */
export type RequestKey = { client: string; key: string };

/** A request that succeeded. Its result is sealed. */
export interface FinishedRequest {
  fingerprint: string;
  result: string;
  /** For a new room: how many symbols of its draw, which is part of the result, are its code. */
  codeLength?: number;
}

/** The store keeps it in the same step as the change. If it has one of the same key, it only returns that one. */
export interface RequestRecord extends RequestKey, FinishedRequest {
  expiresAt: number;
  /** At most this many are kept of the client, the newest ones. */
  perClient: number;
  /** And of all clients. Beyond it, the client with the most loses its oldest one, so that nobody can evict others. */
  inTotal: number;
}

/** An earlier request with the same key has made the change. */
export type Repeated = { repeated: FinishedRequest };

type BeginOutcome =
  | { state: 'started' }
  /** Another request has the key, for this long unless it renews its lease. */
  | { state: 'running'; leaseMs: number }
  | { state: 'finished'; request: FinishedRequest };

/** Requests that change a room. A lease reserves a key while the body of an upload is received. */
export interface IdempotencyStore {
  find(room: RoomCode, key: RequestKey, now: number): MaybePromise<FinishedRequest | undefined>;
  /** Reserves a key for a request until its lease ends, unless another request has reserved it or has finished. */
  begin(room: RoomCode, key: RequestKey, runner: string, now: number, leaseMs: number): Promise<BeginOutcome>;
  renew(room: RoomCode, key: RequestKey, runner: string, now: number, leaseMs: number): Promise<void>;
  end(room: RoomCode, key: RequestKey, runner: string): Promise<void>;
}

/** The creator of a room, shown to operators: the user that a proxy named, or the name of an API key. */
export type CreatedBy = `user:${string}` | `key:${string}`;
