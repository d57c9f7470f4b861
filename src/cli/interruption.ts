/** Ctrl-C, being told to end, or a terminal that is closed, as a signal to what is under way. */
import { constants } from 'node:os';
import { Ended } from './failure.ts';

/** One Ctrl-C may come twice, from the terminal and from a program in between; a second one is one that comes later. */
const onceMoreAfterMs = 1000;

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ends as a program does that the signal has ended: 130 for Ctrl-C. A second one does not wait for anything. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  let stoppedAt = Number.POSITIVE_INFINITY;
  function stop(name: (typeof names)[number]): void {
    const ended = new Ended(128 + constants.signals[name]);
    if (performance.now() - stoppedAt > onceMoreAfterMs) process.exit(ended.exitCode);
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
    // Whatever broke because of it is not what is to be told.
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    for (const name of names) process.off(name, stop);
  }
}
