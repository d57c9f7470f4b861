/**
 * Large messages are handled in turns, and so are all messages of clients that cause much work. Parsing, storing and
 * broadcasting a megabyte keeps the event loop and the disk busy for milliseconds. Without turns, a few clients that
 * send continuously would delay everyone.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { ClientId } from '../ports/basics.ts';
import { noteDropped } from './garbage.ts';
import { unlimitedWork, type WorkBudget } from './work-budget.ts';

/** Smaller messages do not wait. */
const largeBytes = 16 * 1024;

export const isLarge = (bytes: number): boolean => bytes >= largeBytes;

/** Call the result between the synchronous steps of a message: if it is large, others are served there. */
export const stepsFor = (bytes: number): (() => Promise<void> | undefined) =>
  isLarge(bytes) ? () => nextTurn() : () => undefined;

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

export class Turns {
  readonly budget: WorkBudget;
  /** Waiting turns by client, so that clients alternate. Each connection waits for at most one. */
  readonly #waiting = new Map<ClientId, Turn[]>();
  #isBusy = false;

  constructor(budget: WorkBudget = unlimitedWork) {
    this.budget = budget;
  }

  /** The number of waiting turns. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** Runs the work when its turn comes. */
  run<T>(client: ClientId, bytes: number, work: () => Promise<T>): Promise<T> {
    if (!isLarge(bytes) && !this.budget.isBusy(client)) return work();
    return new Promise((resolve, reject) => {
      const turn = { client, bytes, run: () => work().then(resolve, reject) };
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
