/** Incomplete bodies: the client disconnected, sent a malformed body, or took too long. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

export const tookTooLong = 'The request took too long to arrive.';

/** Calls `refuse` when a body fails. A client that is only slow is still connected and receives the reason. */
export function onAborted(raw: IncomingMessage, refuse: (reason: PoproomError) => void): void {
  const fail = () => refuse(new PoproomError('VALIDATION_FAILED', 'The request ended before its body did.'));
  // Caused by the client in both cases, so it is not a server error. Uses `on`, because `once` is slower.
  raw.on('error', fail).on('close', () => raw.complete || fail());
  raw.on('timeout', () => refuse(new PoproomError('VALIDATION_FAILED', tookTooLong)));
}

/** For uploads. Aborts with the same reasons. */
export function abortSignalOf(raw: IncomingMessage): AbortSignal {
  const aborter = new AbortController();
  onAborted(raw, (reason) => aborter.abort(reason));
  return aborter.signal;
}
