/** The patience of a start: a store that does not answer is said to be away, instead of being waited for. */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';

const withinMs = 5_000;
const againAfterMs = 200;

/**
 * Tries until it succeeds or the time is up; a server that is just being restarted is met in the end. `trouble` is what
 * was in the way last, such as a password or a certificate: an operator would look for it in vain.
 */
export async function connectWithin(connect: () => Promise<unknown>, trouble: () => unknown): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await within(deadline - performance.now(), connect());
    } catch (cause) {
      if (performance.now() + againAfterMs >= deadline) throw away(trouble() ?? cause);
    }
    await pause(againAfterMs);
  }
}

function away(cause: unknown): PoproomError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PoproomError('UNAVAILABLE', `Redis, which POPROOM_STORE names, is out of reach: ${why}`, { cause });
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no connection')), ms);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
