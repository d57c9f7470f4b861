/** Finds out why a live channel did not open, which browsers do not reveal. */
import { offlineError, PoproomError } from './error.ts';
import type { ResumeToken } from './resume-token.ts';
import { isObject, isRoomInfo } from './shapes.ts';
import type { Transport } from './transport.ts';

export async function findRefusalReason(
  transport: Transport,
  path: string,
  pin: string | undefined,
  signal: AbortSignal,
): Promise<PoproomError> {
  try {
    await pingWithinLimit(transport, signal);
    await transport.call(path, isRoomInfo, { headers: { 'X-Room-Pin': pin }, signal });
    // The server responds but the channel did not open: too many are open, or a proxy blocks it.
    return noChannel();
  } catch (error) {
    return error instanceof PoproomError ? error : offlineError(error);
  }
}

/** For a resumed channel, to which no limit applies. Undefined if the token is no longer considered valid. */
export async function findResumeFailure(
  transport: Transport,
  token: ResumeToken,
  signal: AbortSignal,
): Promise<PoproomError | undefined> {
  try {
    await ping(transport, signal);
  } catch (error) {
    return error instanceof PoproomError ? error : offlineError(error);
  }
  return token.onRefused() ? noChannel() : undefined;
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
