/**
 * Large messages are handled in turns. Parsing, storing and broadcasting a megabyte keeps the event loop and the disk
 * busy for milliseconds. Without turns, a few clients that send continuously would delay everyone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { noteDropped } from './garbage.ts';
import type { ClientId } from './ports.ts';

/** Smaller messages do not wait. */
const largeBytes = 16 * 1024;

export const isLarge = (bytes: number): boolean => bytes >= largeBytes;
/** The average rate. Small messages of other clients are handled between turns. */
const bytesPerMs = (16 * 1024 * 1024) / 1000;

/** A store that does not respond delays the next turn by at most this. */
const longestTurnMs = 1000;

type Turn = () => Promise<void>;

export class Turns {
  /** Waiting turns by client, so that clients alternate. Each connection waits for at most one. */
  readonly #waiting = new Map<ClientId, Turn[]>();
  #isBusy = false;

  /** The number of waiting turns. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** Runs the work when its turn comes. */
  run<T>(client: ClientId, bytes: number, work: () => Promise<T>): Promise<T> {
    if (!isLarge(bytes)) return work();
    return new Promise((resolve, reject) => {
      const turn = () => work().then(resolve, reject);
      const waiting = this.#waiting.get(client);
      if (waiting) waiting.push(async () => this.#paced(bytes, turn));
      else this.#waiting.set(client, [async () => this.#paced(bytes, turn)]);
      if (!this.#isBusy) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isBusy = true;
    for (const [client, turns] of this.#waiting) {
      const turn = turns.shift();
      this.#waiting.delete(client);
      if (turns.length > 0) this.#waiting.set(client, turns);
      await turn?.();
    }
    this.#isBusy = false;
  }

  async #paced(bytes: number, turn: Turn): Promise<void> {
    const startedAt = performance.now();
    await Promise.race([turn(), pause(longestTurnMs, undefined, { ref: false })]);
    noteDropped(bytes);
    const leftMs = bytes / bytesPerMs - (performance.now() - startedAt);
    await pause(Math.max(0, leftMs));
  }
}
