/** Turns SIGINT, SIGTERM and SIGHUP into an AbortSignal. */
import { constants } from 'node:os';
import { ExitError } from './failure.ts';

/** One Ctrl-C may arrive twice, from the terminal and from a parent such as npx. A later one is a second Ctrl-C. */
const repeatAfterMs = 1000;

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Exits with 128 and the number of the signal: 130 for Ctrl-C. A second signal exits immediately. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  let stoppedAt = Number.POSITIVE_INFINITY;
  function stop(name: (typeof names)[number]): void {
    const ended = new ExitError(128 + constants.signals[name]);
    if (performance.now() - stoppedAt > repeatAfterMs) process.exit(ended.exitCode);
    if (stopping.signal.aborted) return;
    stoppedAt = performance.now();
    stopping.abort(ended);
  }

  for (const name of names) process.on(name, stop);
  try {
    const result = await work(stopping.signal);
    stopping.signal.throwIfAborted();
    return result;
  } catch (error) {
    // Errors that the interruption caused are not reported.
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    for (const name of names) process.off(name, stop);
  }
}
