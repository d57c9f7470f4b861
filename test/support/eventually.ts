/** Waits for a condition by checking it repeatedly, never by a fixed sleep. */
import { setTimeout as pause } from 'node:timers/promises';

/** On a busy machine, fast operations may take seconds. */
const defaultTimeoutMs = 30_000;

/** Most conditions become true soon. Checking a browser every few milliseconds for longer would keep a core busy. */
const [firstPauseMs, longestPauseMs] = [5, 100];

/** At least this many checks, so that a stall of the machine does not use up a short timeout. */
const fewestChecks = 10;

/** Returns the first value of `check` that is not undefined or false. After the timeout, fails with `description`. */
export async function eventually<T>(
  description: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let pauseMs = firstPauseMs;
  for (let checks = 1; ; checks++) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline && checks >= fewestChecks)
      throw new Error(`Timed out after ${timeoutMs} ms: ${description}`);
    await pause(pauseMs);
    pauseMs = Math.min(1.5 * pauseMs, longestPauseMs);
  }
}
