/** Waiting for what happens in its own time: by looking again and again, never by a fixed sleep. */
import { setTimeout as pause } from 'node:timers/promises';

/** For machines that are busy with much else: what happens at once on others may take seconds there. */
const patienceMs = 30_000;

/** Answers the first value of `look` that is not undefined or false; fails with `what` when it takes too long. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`This did not happen within ${withinMs} ms: ${what}`);
    await pause(10);
  }
}
