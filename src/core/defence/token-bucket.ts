/** Token buckets: a burst is free, and then the bucket refills at a steady rate. Each user says what a token stands for. */
import type { ClientId } from '../ports/basics.ts';

type BucketSize = { burst: number; perSecond: number };

export class TokenBucket {
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor({ burst, perSecond }: BucketSize) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#left = burst;
  }

  take(now: number): boolean {
    this.#refill(now);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Takes tokens even if there are not enough. */
  spend(tokens: number, now: number): void {
    this.#refill(now);
    this.#left -= tokens;
  }

  isEmpty(now: number): boolean {
    if (this.#left > 0) return false;
    this.#refill(now);
    return this.#left <= 0;
  }

  /** How many tokens are missing until it is full. */
  missing(now: number): number {
    return Math.max(0, this.#burst - this.#left - (now - this.#at) * this.#perMs);
  }

  #refill(now: number): void {
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}

/** A bucket for each client. Full ones need no memory. */
export class ClientBuckets {
  readonly #size: BucketSize;
  readonly #maxClients: number;
  /** Least recently used first. */
  readonly #buckets = new Map<ClientId, TokenBucket>();

  constructor(size: BucketSize, maxClients = Number.POSITIVE_INFINITY) {
    this.#size = size;
    this.#maxClients = maxClients;
  }

  take(client: ClientId, now: number): boolean {
    return this.#used(client, now).take(now);
  }

  spend(client: ClientId, tokens: number, now: number): void {
    this.#used(client, now).spend(tokens, now);
  }

  missing(client: ClientId, now: number): number {
    return this.#buckets.get(client)?.missing(now) ?? 0;
  }

  #used(client: ClientId, now: number): TokenBucket {
    const bucket = this.#buckets.get(client) ?? new TokenBucket(this.#size);
    this.#buckets.delete(client);
    this.#drop(now);
    this.#buckets.set(client, bucket);
    return bucket;
  }

  #drop(now: number): void {
    for (const [client, bucket] of this.#buckets) {
      if (bucket.missing(now) > 0 && this.#buckets.size < this.#maxClients) return;
      this.#buckets.delete(client);
    }
  }
}
