/** Ends a request to which the server does not respond. */
import { offlineError } from './error.ts';

export interface SilenceLimit {
  /** For `fetch`: aborts with the signal of the call, or when the server was silent for too long. */
  readonly signal: AbortSignal | null;
  /** Whether the server was silent for too long. */
  readonly isExceeded: boolean;
  /** Starts the time again: the server has taken or sent bytes. */
  onBytes(): void;
  stop(): void;
}

/** `seconds` is the longest silence; undefined means no limit. */
export function createSilenceLimit(seconds: number | undefined, signal: AbortSignal | undefined): SilenceLimit {
  if (!seconds) return { signal: signal ?? null, isExceeded: false, onBytes() {}, stop() {} };
  const silent = new AbortController();
  const start = () => setTimeout(() => silent.abort(silenceError(seconds)), seconds * 1000);
  let timer = start();
  return {
    signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    get isExceeded() {
      return silent.signal.aborted;
    },
    onBytes() {
      clearTimeout(timer);
      timer = start();
    },
    stop: () => clearTimeout(timer),
  };
}

/** `cause` tells it from a server that cannot be reached. */
export const silenceError = (seconds: number) =>
  offlineError(new DOMException(`The server did not respond for ${seconds} seconds.`, 'TimeoutError'));

/** Rejects if the next bytes of a response do not arrive in time, and ends the response with `cancel`. */
export async function withinSeconds<T>(
  seconds: number | undefined,
  next: Promise<T>,
  cancel: () => Promise<unknown>,
): Promise<T> {
  if (!seconds) return next;
  const { promise: silent, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(silenceError(seconds));
    cancel().catch(() => undefined);
  }, seconds * 1000);
  return Promise.race([next, silent]).finally(() => clearTimeout(timer));
}
