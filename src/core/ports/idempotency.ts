/** Requests with an idempotency key, which run once however often they are sent. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { MaybePromise } from './basics.ts';

/** The hashes of a client and of its key; neither can be derived from them. */
export interface RequestKey {
  client: string;
  key: string;
}

/** A request that succeeded. Its result is sealed. */
export interface FinishedRequest {
  fingerprint: string;
  result: string;
  /** For a new room: how many symbols of its draw, which is part of the result, are its code. */
  codeLength?: number;
}

/**
 * The record of a request, which the store keeps in the same step as its change. If the store has a record of the key
 * already, it changes nothing and returns that one.
 */
export interface RequestRecord extends RequestKey, FinishedRequest {
  expiresAt: number;
  /** At most this many are kept of the client, the newest ones. */
  perClient: number;
  /** And of all clients. Beyond it, the client with the most loses its oldest one, so that nobody can evict others. */
  inTotal: number;
}

/** An earlier request with the same key has made the change. */
export interface Repeated {
  repeated: FinishedRequest;
}

export type BeginOutcome =
  | { state: 'started' }
  /** Another request has the key, for this long unless it renews its lease. */
  | { state: 'running'; leaseMs: number }
  | { state: 'finished'; request: FinishedRequest };

/** Requests that change a room. A lease reserves a key while the body of an upload is received. */
export interface IdempotencyStore {
  find(room: RoomCode, key: RequestKey, now: number): MaybePromise<FinishedRequest | undefined>;
  /** Reserves a key for a request until its lease ends, unless another request has reserved it or has finished. */
  begin(room: RoomCode, key: RequestKey, runner: string, now: number, leaseMs: number): Promise<BeginOutcome>;
  /** Extends the lease of a running request. */
  renew(room: RoomCode, key: RequestKey, runner: string, now: number, leaseMs: number): Promise<void>;
  /** Ends the lease. */
  end(room: RoomCode, key: RequestKey, runner: string): Promise<void>;
}
