/**
 * Limits the CPU time that each client causes: parsing, rebasing, comparing, encoding and compressing texts. Bytes and
 * messages do not tell: one short message can cost as much as a thousand others.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../errors.ts';
import type { ClientId, MaybePromise } from '../ports/basics.ts';

const windowMs = 60_000;
/** How long work over the limit waits before it is refused. */
const longestWaitMs = 2000;
/** Each takes about 150 bytes. A client leaves a minute after its last work. */
const maxClients = 20_000;
const forgetEveryMs = 1000;

interface Spent {
  /** Within the sliding minute, in milliseconds. */
  inMinute: number;
  inSecond: number;
  /** When both were last reduced. */
  at: number;
}

export class WorkBudget {
  /** Milliseconds per minute; 0: no limit. */
  readonly #limit: number;
  readonly #perMs: number;
  /** In the order of their last work. */
  readonly #spent = new Map<ClientId, Spent>();
  #forgottenAt = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#perMs = limit / windowMs;
  }

  /** Runs synchronous work, and counts how long it takes. */
  measure<T>(client: ClientId | undefined, work: () => T): T {
    if (client === undefined) return work();
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      this.charge(client, performance.now() - startedAt);
    }
  }

  charge(client: ClientId, ms: number): void {
    this.#total += ms;
    if (this.#limit === 0) return;
    const { inMinute, inSecond, at } = this.#current(client);
    this.#spent.delete(client);
    this.#spent.set(client, { inMinute: inMinute + ms, inSecond: inSecond + ms, at });
    this.#forget(at);
  }

  /** The work of all clients since the start, in milliseconds. */
  get total(): number {
    return this.#total;
  }

  /** The work of a client in the last minute, in milliseconds. */
  spentBy(client: ClientId): number {
    return this.#current(client).inMinute;
  }

  /** Whether a client has worked more than its share of the last second. Then its messages take turns. */
  isBusy(client: ClientId): boolean {
    return this.#limit > 0 && this.#current(client).inSecond > this.#perMs * 1000;
  }

  /** Waits while the client is over its limit. Rejects if that takes too long. */
  admit(client: ClientId): MaybePromise<void> {
    if (this.#overFor(client) > 0) return this.#wait(client);
  }

  /** Others of the same client may work in the meantime, so one pause is not always enough. */
  async #wait(client: ClientId): Promise<void> {
    const until = performance.now() + longestWaitMs;
    for (let overMs = this.#overFor(client); overMs > 0; overMs = this.#overFor(client)) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw tooMuchWork(Math.ceil(overMs / 1000));
      await pause(Math.ceil(Math.min(overMs, leftMs)));
    }
  }

  #overFor(client: ClientId): number {
    if (this.#limit === 0) return 0;
    return Math.max(0, (this.#current(client).inMinute - this.#limit) / this.#perMs);
  }

  #current(client: ClientId): Spent {
    const now = performance.now();
    const spent = this.#spent.get(client);
    if (!spent) return { inMinute: 0, inSecond: 0, at: now };
    const gained = (now - spent.at) * this.#perMs;
    return { inMinute: Math.max(0, spent.inMinute - gained), inSecond: Math.max(0, spent.inSecond - gained), at: now };
  }

  #forget(now: number): void {
    const isFull = this.#spent.size > maxClients;
    if (!isFull && now - this.#forgottenAt < forgetEveryMs) return;
    this.#forgottenAt = now;
    for (const [client, { inMinute, at }] of this.#spent) {
      if (inMinute > (now - at) * this.#perMs && this.#spent.size <= maxClients) break;
      this.#spent.delete(client);
    }
  }
}

/** For texts without a client. */
export const unlimitedWork = new WorkBudget(0);

function tooMuchWork(retryAfter: number): PoproomError {
  const message = `The messages and requests of your address take too much computing time. Try again in ${
    retryAfter === 1 ? '1 second' : `${retryAfter} seconds`
  }.`;
  return new PoproomError('RATE_LIMITED', message, { retryAfter, details: { reason: 'work', retryAfter } });
}
