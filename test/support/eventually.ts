/** Waits for a condition by checking it repeatedly, never by a fixed sleep. */
import { setTimeout as pause } from 'node:timers/promises';

/** On a busy machine, what is immediate elsewhere may take seconds. */
const patienceMs = 30_000;

/** Most conditions hold soon. Checking a browser every few milliseconds for longer would keep a core busy. */
const [firstPauseMs, longestPauseMs] = [5, 100];

/** Returns the first value of `look` that is not undefined or false; fails with `what` if it takes too long. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.5 * pauseMs, longestPauseMs)) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`This did not happen within ${withinMs} ms: ${what}`);
    await pause(pauseMs);
  }
}
