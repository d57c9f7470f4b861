/** Finds out why a live channel did not open, which browsers keep to themselves. */
import { PoproomError, unreachable } from './error.ts';
import type { ResumeToken } from './resume-token.ts';
import { isObject, isRoomInfo } from './shapes.ts';
import type { Wire } from './wire.ts';

export async function whyRefused(
  wire: Wire,
  path: string,
  pin: string | undefined,
  signal: AbortSignal,
): Promise<PoproomError> {
  try {
    await probe(wire, signal);
    await wire.call(path, isRoomInfo, { headers: { 'X-Room-Pin': pin }, signal });
    // It answers, and yet the channel did not open: too many are open, or something on the way does not let it through.
    return noChannel();
  } catch (error) {
    return error instanceof PoproomError ? error : unreachable(error);
  }
}

/** Of a channel that resumes: no limit applies to it, so it is tried again soon, as long as the token may be valid. */
export async function whyNotResumed(
  wire: Wire,
  token: ResumeToken,
  signal: AbortSignal,
): Promise<PoproomError | undefined> {
  try {
    await reachServer(wire, signal);
  } catch (error) {
    return error instanceof PoproomError ? error : unreachable(error);
  }
  return token.onRefused() ? noChannel() : undefined;
}

const noChannel = () => new PoproomError('UNAVAILABLE', 'The server answers, but does not open a live channel.');

/** Fails when the server is out of reach, or would refuse the next request; costs nothing of the limit itself. */
export async function probe(wire: Wire, signal: AbortSignal): Promise<void> {
  await reachServer(wire, signal);
  if (wire.rateLimit?.remaining !== 0) return;
  const retryAfter = Math.max(1, Math.ceil((wire.rateLimit.resetAt.getTime() - Date.now()) / 1000));
  throw new PoproomError('RATE_LIMITED', `All requests are used up; try again in ${retryAfter} seconds.`, {
    details: { reason: 'requests', retryAfter },
  });
}

export async function reachServer(wire: Wire, signal: AbortSignal): Promise<void> {
  await wire.call('/livez', isObject, { signal });
}
