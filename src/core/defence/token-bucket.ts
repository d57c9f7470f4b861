/** Token buckets: a burst is free, and then the bucket refills at a steady rate. Each user says what a token stands for. */
import type { ClientId } from '../ports/basics.ts';

interface BucketSize {
  burst: number;
  perSecond: number;
}

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

  /** Takes a token if there is one. */
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

  isFull(now: number): boolean {
    return this.#left + (now - this.#at) * this.#perMs >= this.#burst;
  }

  #refill(now: number): void {
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}

/** A bucket for each client. Full ones need no memory. */
export class ClientBuckets {
  readonly #size: BucketSize;
  /** Least recently used first. */
  readonly #buckets = new Map<ClientId, TokenBucket>();

  constructor(size: BucketSize) {
    this.#size = size;
  }

  take(client: ClientId, now: number): boolean {
    const bucket = this.#buckets.get(client) ?? new TokenBucket(this.#size);
    const isTaken = bucket.take(now);
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    this.#dropFull(now);
    return isTaken;
  }

  #dropFull(now: number): void {
    for (const [client, bucket] of this.#buckets) {
      if (!bucket.isFull(now)) return;
      this.#buckets.delete(client);
    }
  }
}
