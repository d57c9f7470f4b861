/** Whether this device has requests left. Files take some; the text goes through the live channel, which takes none. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type PoproomError, rateLimitIn } from '../../../src/client/light.ts';

const until = signal<number | undefined>(undefined);

/** When the device can send requests again; undefined while it can. */
export const limitedUntil: ReadonlySignal<number | undefined> = until;

/** At an address that takes none. */
export async function checkRequestLimit(): Promise<void> {
  const answer = await fetch('/livez', { method: 'HEAD' }).catch(() => undefined);
  if (!answer) return;
  const limit = rateLimitIn((name) => answer.headers.get(name));
  until.value = limit?.remaining === 0 ? limit.resetAt.getTime() : undefined;
}

export function noteRefusal({ code, details, retryAfter = 0 }: PoproomError): void {
  if (code === 'RATE_LIMITED' && details.reason === 'requests') until.value = Date.now() + retryAfter * 1000;
}
