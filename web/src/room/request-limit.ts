/** How many requests this device has left. Files need requests; the text uses the live channel, which needs none. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import { type RateLimit, rateLimitIn } from '../../../src/client/transport.ts';
import { basePath } from '../page-settings.ts';
import { toPoproomError } from '../server-connection.ts';

const latest = signal<RateLimit | undefined>(undefined);

/** As of the last response; undefined if the server has no limit. */
export const requestLimit: ReadonlySignal<RateLimit | undefined> = latest;

/** When the device can send requests again; undefined while it can. */
export const limitedUntil: ReadonlySignal<number | undefined> = computed(() =>
  latest.value?.remaining === 0 ? latest.value.resetAt.getTime() : undefined,
);

/** Asks an endpoint that does not count towards the limit. Returns the headers of the response. */
export async function checkRequestLimit(): Promise<Headers | undefined> {
  const response = await fetch(`${basePath}/livez`, { method: 'HEAD' }).catch(() => undefined);
  if (response) latest.value = rateLimitIn((name) => response.headers.get(name));
  return response?.headers;
}

/** The error of a failed request, which may be that the limit is reached. */
export function noteFailure(cause: unknown): PoproomError {
  const error = toPoproomError(cause);
  const { code, details, retryAfter = 0 } = error;
  if (code === 'RATE_LIMITED' && details.reason === 'requests')
    latest.value = { limit: 0, remaining: 0, resetAt: new Date(Date.now() + retryAfter * 1000) };
  return error;
}
