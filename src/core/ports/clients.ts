/** Rate limits and API keys. */
import type { ClientId, MaybePromise } from './common.ts';

export type Tier = 'free' | 'pro';

export interface Quota {
  tier: Tier;
  limit: number;
  windowMs: number;
}

export interface Allowance {
  granted: boolean;
  remaining: number;
  resetAt: number;
}

export interface RateCounter {
  /** Grants exactly `limit` requests per window, however many run concurrently. */
  take(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
  peek(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
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
  find(hash: string): Promise<ApiKey | undefined>;
  list(): Promise<ApiKey[]>;
  /** By id or name; undefined if there is no such active key. */
  revoke(idOrName: string, now: number): Promise<ApiKey | undefined>;
}
