/** Connects at the start, with a time limit: reports a store that does not respond instead of waiting for it. */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';
import type { RedisTarget } from './redis-url.ts';
import { explain, UnusableRedis } from './server-info.ts';

const withinMs = 5_000;
const retryAfterMs = 200;

/**
 * Retries until it succeeds or the time is up, for example while the server restarts. `lastError` is the actual reason
 * for the operator, such as a wrong password or certificate.
 */
export async function connectWithin(
  target: RedisTarget,
  connect: () => Promise<unknown>,
  lastError: () => unknown = () => undefined,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  /** Of an attempt that did not run out of time. */
  let reason: unknown;
  for (;;) {
    try {
      return await within(deadline - performance.now(), connect());
    } catch (cause) {
      if (cause !== timeout) reason = cause;
      if (performance.now() + retryAfterMs >= deadline)
        throw unreachable(explain(lastError() ?? reason ?? cause, target));
    }
    await pause(retryAfterMs);
  }
}

function unreachable(cause: unknown): PoproomError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = cause instanceof UnusableRedis ? 'Cannot use' : 'Cannot connect to';
  return new PoproomError('UNAVAILABLE', `${problem} the Redis in POPROOM_STORE: ${reason}`, { cause });
}

const timeout = new Error('no connection');

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeout), ms);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
