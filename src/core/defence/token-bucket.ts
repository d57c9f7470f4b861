/** Budgets that refill steadily (token buckets): for bytes, messages and requests. */
import type { ClientId } from '../ports.ts';

export interface BucketRate {
  /** The maximum at one time. */
  burst: number;
  perSecond: number;
}

export class TokenBucket {
  readonly #rate: BucketRate;
  #left: number;
  #at: number;

  constructor(rate: BucketRate, now: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#at = now;
  }

  /** Takes one, if there is one. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Takes an amount in any case. If it is more than the rest, the bucket stays empty for longer. */
  spend(amount: number, now: number): void {
    this.#refill(now);
    this.#left -= amount;
  }

  isEmpty(now: number): boolean {
    if (this.#left > 0) return false;
    this.#refill(now);
    return this.#left <= 0;
  }

  isFull(now: number): boolean {
    this.#refill(now);
    return this.#left === this.#rate.burst;
  }

  #refill(now: number): void {
    const { burst, perSecond } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((now - this.#at) * perSecond) / 1000);
    this.#at = now;
  }
}

/** A bucket for each client. Full ones are not kept. */
export class ClientBuckets {
  readonly #rate: BucketRate;
  /** Least recently used first. */
  readonly #buckets = new Map<ClientId, TokenBucket>();

  constructor(rate: BucketRate) {
    this.#rate = rate;
  }

  /** Takes one of this client, if there is one. */
  take(client: ClientId, now: number): boolean {
    this.#dropFull(now);
    const bucket = this.#buckets.get(client) ?? new TokenBucket(this.#rate, now);
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    return bucket.take(now);
  }

  #dropFull(now: number): void {
    for (const [client, bucket] of this.#buckets) {
      if (!bucket.isFull(now)) return;
      this.#buckets.delete(client);
    }
  }
}
