/** Incomplete bodies: the client disconnected, sent a malformed body, or took too long. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

export const tookTooLong = 'The request took too long to arrive.';

/** The argument of a request's `timeout` event if it is not idle but took too long as a whole. */
export const deadlinePassed = Symbol('deadline passed');

/** Calls `refuse` when a body fails. A client that is only slow is still connected and receives the reason. */
export function onAborted(
  raw: IncomingMessage,
  refuse: (reason: PoproomError) => void,
  onDeadline = () => refuse(tooSlow()),
): void {
  const fail = () => refuse(new PoproomError('VALIDATION_FAILED', 'The request ended before its body did.'));
  // Caused by the client in both cases, so it is not a server error. Uses `on`, because `once` is slower.
  raw.on('error', fail).on('close', () => raw.complete || fail());
  if (raw.errored && !raw.complete) fail();
  raw.on('timeout', (cause: unknown) => (cause === deadlinePassed ? onDeadline() : refuse(tooSlow())));
}

const tooSlow = () => new PoproomError('VALIDATION_FAILED', tookTooLong);

/** A large upload takes longer than other requests. After their deadline it may go on while it is this fast. */
const slowestUpload = 8 * 1024;
const rateCheckMs = 60_000;

/** For uploads. Aborts with the same reasons. */
export function abortSignalOf(raw: IncomingMessage): AbortSignal {
  const aborter = new AbortController();
  const { socket } = raw;
  const abort = (reason: PoproomError) => aborter.abort(reason);
  onAborted(raw, abort, () => {
    let before = 0;
    const checkRate = () => {
      if (socket.bytesRead - before < (slowestUpload * rateCheckMs) / 1000) abort(tooSlow());
      before = socket.bytesRead;
    };
    const timer = setInterval(checkRate, rateCheckMs);
    const stop = () => clearInterval(timer);
    raw.once('close', stop);
    aborter.signal.addEventListener('abort', stop);
    checkRate();
  });
  return aborter.signal;
}
