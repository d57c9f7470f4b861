/** Limits the work that clients cause: turns for large messages, a budget of CPU time for each, and token buckets. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { counted, PoproomError } from '../errors.ts';
import type { ClientId, MaybePromise } from '../ports/basics.ts';
import { noteDropped } from './garbage.ts';

/** Smaller messages do not wait. Between the synchronous steps of a large one, others are served. */
const largeBytes = 16 * 1024;

export const isLarge = (bytes: number): boolean => bytes >= largeBytes;

/** The average rate. Small messages of other clients are handled between turns. */
const bytesPerMs = (64 * 1024 * 1024) / 1000;

/** Turns that wait at the same time share a commit of the store: up to this many bytes, started within this time. */
const largestGroup = 1024 * 1024;
const longestStartMs = 10;

/** A store that does not respond delays the next turn by at most this. */
const longestTurnMs = 1000;

interface Turn {
  client: ClientId;
  bytes: number;
  /** Never rejects. */
  run(): Promise<void>;
}

/**
 * Large messages are handled in turns, and so are all messages of clients that cause much work. Parsing, storing and
 * broadcasting a megabyte keeps the event loop and the disk busy for milliseconds. Without turns, a few clients that
 * send continuously would delay everyone.
 */
export class Turns {
  readonly budget: WorkBudget;
  /** Waiting turns by client, so that clients alternate. Each connection waits for at most one. */
  readonly #waiting = new Map<ClientId, Turn[]>();
  #isBusy = false;

  constructor(budget: WorkBudget = unlimitedWork) {
    this.budget = budget;
  }

  get waiting(): number {
    return this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
  }

  run<T>(client: ClientId, bytes: number, work: () => MaybePromise<T>): MaybePromise<T> {
    if (!isLarge(bytes) && !this.budget.isBusy(client)) return work();
    return new Promise((resolve, reject) => {
      const turn = { client, bytes, run: () => Promise.try(work).then(resolve, reject) };
      const waiting = this.#waiting.get(client);
      if (waiting) waiting.push(turn);
      else this.#waiting.set(client, [turn]);
      if (!this.#isBusy) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.size > 0) await this.#runGroup();
    this.#isBusy = false;
  }

  /** Groups leave at least half of the time to others. */
  async #runGroup(): Promise<void> {
    const startedAt = performance.now();
    const spentBefore = new Map<ClientId, number>();
    const ends: Promise<void>[] = [];
    let bytes = 0;
    for (let left = this.waiting; left > 0; left--) {
      const turn = this.#takeNext(largestGroup - bytes);
      if (!turn) break;
      const { client } = turn;
      if (!spentBefore.has(client)) spentBefore.set(client, this.budget.spentBy(client));
      bytes += turn.bytes;
      ends.push(turn.run());
      // Others are served between two starts.
      await nextTurn();
      if (this.budget.isBusy(client) || performance.now() - startedAt > longestStartMs) break;
    }
    await Promise.race([Promise.all(ends), pause(longestTurnMs, undefined, { ref: false })]);
    noteDropped(bytes);
    const workedMs = spentBefore.entries().reduce((sum, [client, ms]) => sum + this.budget.spentBy(client) - ms, 0);
    const leftMs = Math.max(bytes / bytesPerMs, 2 * workedMs) - (performance.now() - startedAt);
    await pause(Math.max(0, leftMs));
  }

  /** Undefined if the next turn does not fit into the rest of a group. */
  #takeNext(bytesLeft: number): Turn | undefined {
    for (const [client, turns] of this.#waiting) {
      const [turn, ...later] = turns;
      if (!turn || (turn.bytes > bytesLeft && bytesLeft < largestGroup)) return undefined;
      this.#waiting.delete(client);
      if (later.length > 0) this.#waiting.set(client, later);
      return turn;
    }
    return undefined;
  }
}

const windowMs = 60_000;
/** How long work over the limit waits before it is refused. */
const longestWaitMs = 2000;
/** Each takes about 150 bytes. A client leaves a minute after its last work. */
const maxClients = 20_000;

/**
 * Limits the CPU time that each client causes: parsing, rebasing, comparing, encoding and compressing texts. Bytes and
 * messages do not tell: one short message can cost as much as a thousand others.
 */
export class WorkBudget {
  /** Milliseconds per minute; 0: no limit. */
  readonly #limit: number;
  readonly #perMs: number;
  readonly #buckets: ClientBuckets;
  /** The work of all clients since the start, in milliseconds. */
  total = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#perMs = limit / windowMs;
    this.#buckets = new ClientBuckets({ burst: limit, perSecond: this.#perMs * 1000 }, maxClients);
  }

  /** Runs synchronous work, and counts how long it takes. */
  measure<T>(client: ClientId | undefined, work: () => T): T {
    if (client === undefined) return work();
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      const now = performance.now();
      this.charge(client, now - startedAt, now);
    }
  }

  charge(client: ClientId, ms: number, now = performance.now()): void {
    this.total += ms;
    if (this.#limit > 0) this.#buckets.spend(client, ms, now);
  }

  /** The work of a client in the last minute, in milliseconds. */
  spentBy(client: ClientId): number {
    return this.#buckets.missing(client, performance.now());
  }

  /** Whether a client has worked more than its share of the last second. Then its messages take turns. */
  isBusy(client: ClientId): boolean {
    return this.#limit > 0 && this.spentBy(client) > this.#perMs * 1000;
  }

  /** Waits while the client is over its limit. Rejects if that takes too long. */
  admit(client: ClientId): MaybePromise<undefined> {
    return this.#overFor(client) > 0 ? this.#wait(client) : undefined;
  }

  /** Others of the same client may work in the meantime, so one pause is not always enough. */
  async #wait(client: ClientId): Promise<undefined> {
    const until = performance.now() + longestWaitMs;
    for (let overMs = this.#overFor(client); overMs > 0; overMs = this.#overFor(client)) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw tooMuchWork(Math.ceil(overMs / 1000));
      await pause(Math.ceil(Math.min(overMs, leftMs)));
    }
  }

  #overFor(client: ClientId): number {
    return this.#limit === 0 ? 0 : Math.max(0, (this.spentBy(client) - this.#limit) / this.#perMs);
  }
}

function tooMuchWork(retryAfter: number): PoproomError {
  const wait = counted(retryAfter, 'second');
  const message = `The messages and requests of your address take too much computing time. Try again in ${wait}.`;
  return new PoproomError('RATE_LIMITED', message, { retryAfter, details: { reason: 'work', retryAfter } });
}

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

/** For texts without a client. */
export const unlimitedWork = new WorkBudget(0);
