/** Ends a request if the server neither takes nor sends a byte for too long. */
import { PoproomError } from './error.ts';
import type { CallOptions, SilenceLimit, Timeouts } from './transport.ts';

/** Longer timers overflow, and would fire immediately. */
const maxSeconds = 2_000_000;

/** The longest silence in seconds; undefined for no limit, which 0 and Infinity mean too. */
export const limitOf = (seconds: number | undefined): number | undefined =>
  seconds && seconds < maxSeconds ? seconds : undefined;

/** In bytes per second: a JSON body is sent without progress, so a slow connection gets more time for a long one. */
const slowestUpload = 16 * 1024;

/** `seconds` is the default for calls. */
export function createTimeouts(seconds: number): Timeouts {
  const limitFor = ({ timeoutSeconds = seconds }: CallOptions) => limitOf(timeoutSeconds);
  return {
    seconds,
    watch(call, unmeasured) {
      const limit = limitFor(call);
      return limit === undefined ? undefined : createSilenceLimit(limit + unmeasured / slowestUpload, call.signal);
    },
    next: (call, read, cancel) => withinSeconds(limitFor(call), read, cancel),
  };
}

function createSilenceLimit(limit: number, signal: AbortSignal | undefined): SilenceLimit {
  const silent = new AbortController();
  const start = () => setTimeout(() => silent.abort(silenceError(limit)), limit * 1000);
  let timer = start();
  let isStopped = false;
  const pause = () => clearTimeout(timer);
  return {
    signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    get isExceeded() {
      return silent.signal.aborted;
    },
    onBytes() {
      pause();
      // The rest of a body may be sent after an early response.
      if (!isStopped) timer = start();
    },
    pause,
    stop() {
      isStopped = true;
      pause();
    },
  };
}

/** `cause` is that of a standard timeout. */
const silenceError = (seconds: number): PoproomError => {
  const message = `The server did not respond for ${Math.round(seconds * 10) / 10} seconds.`;
  return new PoproomError('TIMEOUT', message, { cause: new DOMException(message, 'TimeoutError') });
};

/** Rejects if the next bytes of a response do not arrive in time, and ends the response with `cancel`. */
export async function withinSeconds<T>(
  seconds: number | undefined,
  next: Promise<T>,
  cancel: () => Promise<unknown>,
): Promise<T> {
  const limit = limitOf(seconds);
  if (limit === undefined) return next;
  const { promise: silent, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(silenceError(limit));
    cancel().catch(() => undefined);
  }, limit * 1000);
  return Promise.race([next, silent]).finally(() => clearTimeout(timer));
}
