/** The use of the server by each client, requests and stored bytes, and the API keys. */

import type { RoomCode } from '../../protocol/room-code.ts';
import type { ClientId, MaybePromise, Owner } from './basics.ts';

export type Tier = 'free' | 'pro';

export type Quota = { tier: Tier; limit: number; windowMs: number };

export const rateWindowMs = 3_600_000;

export type Allowance = { granted: boolean; remaining: number; resetAt: number };

export interface RateCounter {
  /** Whether counting takes a step of its own, which an access to a room can save: see {@link Spending}. */
  readonly countsWithAccess: boolean;
  /** Grants exactly `limit` requests per window, however many run concurrently. */
  take(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
  peek(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
}

/**
 * A request that its first access to a room counts, in the same step and before everything else. The access sets
 * `counted`. A request without an access is counted before its response.
 */
export interface Spending {
  readonly client: ClientId;
  readonly quota: Quota;
  readonly now: number;
  counted?: MaybePromise<Allowance>;
}

export interface ApiKey {
  id: string;
  name: string;
  tier: Tier;
  createdAt: number;
  revokedAt: number | undefined;
}

export interface KeyStore {
  /** Undefined if an active key already has this name. */
  create(key: { id: string; name: string; tier: Tier; hash: string }, now: number): Promise<ApiKey | undefined>;
  /** Finds an active key by the hash of its text. */
  find(hash: string): MaybePromise<ApiKey | undefined>;
  list(): Promise<ApiKey[]>;
  /** By id or name; undefined if there is no such active key. */
  revoke(idOrName: string, now: number): Promise<ApiKey | undefined>;
}

/** The maximum bytes of stored files; `Infinity` means no limit. */
export interface StorageLimits {
  client: number;
  network: number;
  /** By all clients together. */
  total: number;
}

/** An upload that is about to start. */
export interface StorageRequest {
  blob: string;
  owner: Owner;
  /** When the room of the file expires. */
  expiresAt: number;
  /** When it must have ended. A reservation that still exists then belongs to a crashed node. */
  deadline: number;
  /** Bounds of its size. Both are equal if the client announced it. */
  least: number;
  most: number;
}

type TextCharge = { code: RoomCode; owner: Owner; bytes: number };

export interface ReachedLimit {
  scope: keyof StorageLimits;
  /** Stored and reserved bytes. */
  used: number;
  maximum: number;
  /** When the first room with files of this client or network expires. */
  freesAt: number | undefined;
}

type StorageGrant =
  /** `bytes` is at least `least`; `limit` is set if it is less than `most`. */
  { outcome: 'granted'; bytes: number; limit: ReachedLimit | undefined } | { outcome: 'refused'; limit: ReachedLimit };

export interface StorageUsage {
  /** Bytes of all files. */
  stored: number;
  /** Bytes reserved for uploads in progress. */
  reserved: number;
}

/**
 * Bytes of files by owner. A file counts from its reservation until it is removed, at the latest until its bytes are
 * removed. Stored and reserved bytes never exceed a limit, however many uploads start concurrently on all nodes. Close
 * to a limit, an upload may be rejected because of another one that fails later.
 */
export interface StorageAccounts {
  reserve(request: StorageRequest, limits: StorageLimits, now: number): Promise<StorageGrant>;
  /** Moves the deadline of a reservation, while an upload takes long. */
  extend(request: Pick<StorageRequest, 'blob' | 'owner'>, deadline: number): Promise<void>;
  /** For a failed upload. */
  release(request: Pick<StorageRequest, 'blob' | 'owner'>): Promise<void>;
  /** Sets the bytes that the text of a room counts for until the room ends. Returns the limit if it is exceeded. */
  chargeText(charge: TextCharge, limits: StorageLimits, now: number): Promise<ReachedLimit | undefined>;
  /** Releases reservations after their deadline, and the charges of rooms that have ended. */
  releaseAbandoned(now: number): Promise<void>;
  usage(): Promise<StorageUsage>;
  /** Stored and reserved bytes of a client or network. */
  usageOf(account: string): Promise<number>;
}
