/** Whether this device has requests left. Files need requests; the text uses the live channel, which needs none. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type PoproomError, rateLimitIn } from '../../../src/client/light.ts';
import { toPoproomError } from '../server.ts';

const until = signal<number | undefined>(undefined);

/** When the device can send requests again; undefined while it can. */
export const limitedUntil: ReadonlySignal<number | undefined> = until;

/** Asks an endpoint that does not count towards the limit. */
export async function checkRequestLimit(): Promise<void> {
  const response = await fetch('/livez', { method: 'HEAD' }).catch(() => undefined);
  if (!response) return;
  const limit = rateLimitIn((name) => response.headers.get(name));
  until.value = limit?.remaining === 0 ? limit.resetAt.getTime() : undefined;
}

/** The error of a failed request, which may be that the limit is reached. */
export function noteFailure(cause: unknown): PoproomError {
  const error = toPoproomError(cause);
  const { code, details, retryAfter = 0 } = error;
  if (code === 'RATE_LIMITED' && details.reason === 'requests') until.value = Date.now() + retryAfter * 1000;
  return error;
}
