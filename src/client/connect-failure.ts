/** Finds out why a live channel did not open, which browsers do not reveal. */
import { PoproomError } from './error.ts';
import type { ResumeToken } from './resume-token.ts';
import { isObject, isRoomInfo } from './shapes.ts';
import type { Transport } from './transport.ts';

/** Always throws the reason. No limit applies to a channel that was to be resumed with a token. */
export async function throwRefusal(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
  token: ResumeToken | undefined,
  withTimeout: () => AbortSignal,
): Promise<never> {
  if (token) {
    await ping(transport, withTimeout());
    if (token.onRefused()) throw noChannel();
  }
  const signal = withTimeout();
  await pingWithinLimit(transport, signal);
  await transport.call(path, isRoomInfo, { headers, signal });
  if (isForeignPage(transport.url)) await throwIfOriginRefused(transport, path, signal);
  // The server responds but the channel did not open: too many are open, or a proxy blocks it.
  throw noChannel();
}

/** Whether this is a page of another origin. Other programs have no location. */
function isForeignPage(url: string): boolean {
  const { location } = globalThis as { location?: { origin: string } };
  return location !== undefined && location.origin !== new URL(url).origin;
}

/** A plain request for the channel says whether the server allows the origin of this page. */
async function throwIfOriginRefused(transport: Transport, path: string, signal: AbortSignal): Promise<void> {
  await transport.send(`${path}/live`, { signal }).catch((error) => {
    if (error.code === 'ORIGIN_NOT_ALLOWED') throw error;
  });
}

const noChannel = () => new PoproomError('UNAVAILABLE', 'The server responds, but does not open a live channel.');

/** Fails if the server is unreachable or the rate limit is used up. Does not count as a request. */
export async function pingWithinLimit(transport: Transport, signal: AbortSignal): Promise<void> {
  await ping(transport, signal);
  if (transport.rateLimit?.remaining !== 0) return;
  const retryAfter = Math.max(1, Math.ceil((transport.rateLimit.resetAt.getTime() - Date.now()) / 1000));
  throw new PoproomError('RATE_LIMITED', `Too many requests; try again in ${retryAfter} seconds.`, {
    details: { reason: 'requests', retryAfter },
  });
}

export async function ping(transport: Transport, signal: AbortSignal): Promise<void> {
  await transport.call('/livez', isObject, { signal });
}
