/** Connects at the start, with a time limit: reports a store that does not respond instead of waiting for it. */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';

const withinMs = 5_000;
const retryAfterMs = 200;

/**
 * Retries until it succeeds or the time is up, for example while the server restarts. `lastError` is the actual reason
 * for the operator, such as a wrong password or certificate.
 */
export async function connectWithin(connect: () => Promise<unknown>, lastError: () => unknown): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await within(deadline - performance.now(), connect());
    } catch (cause) {
      if (performance.now() + retryAfterMs >= deadline) throw unreachable(lastError() ?? cause);
    }
    await pause(retryAfterMs);
  }
}

function unreachable(cause: unknown): PoproomError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PoproomError('UNAVAILABLE', `Cannot connect to the Redis in POPROOM_STORE: ${reason}`, { cause });
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
