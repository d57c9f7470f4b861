/** Ends a request if the server neither takes nor sends a byte for too long. */
import { PoproomError } from './error.ts';

export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /**
   * Fails with `TIMEOUT` if the server neither takes nor sends a byte for this many seconds. 0 or Infinity: no limit.
   * Default: that of the client.
   */
  timeoutSeconds?: number | undefined;
}

/** Longer timers overflow, and would fire immediately. */
const maxSeconds = 2_000_000;

/** The longest silence in seconds; undefined for no limit, which 0 and Infinity mean too. */
export const limitOf = (seconds: number | undefined): number | undefined =>
  seconds && seconds < maxSeconds ? seconds : undefined;

/** In bytes per second: a JSON body is sent without progress, so a slow connection gets more time for a long one. */
const slowestUpload = 16 * 1024;

export type Timeouts = ReturnType<typeof createTimeouts>;
export type SilenceLimit = ReturnType<typeof createSilenceLimit>;

/** How long requests wait for a silent server. `seconds` is the default for calls. */
export function createTimeouts(seconds: number) {
  const limitFor = ({ timeoutSeconds = seconds }: CallOptions) => limitOf(timeoutSeconds);
  return {
    seconds,
    /** Starts the time of a request, with `unmeasured` bytes whose progress is unknown. Undefined if there is no limit. */
    watch(call: CallOptions, unmeasured: number): SilenceLimit | undefined {
      const limit = limitFor(call);
      return limit === undefined ? undefined : createSilenceLimit(limit + unmeasured / slowestUpload, call.signal);
    },
    next: <T>(call: CallOptions, read: Promise<T>, cancel: () => Promise<unknown>): Promise<T> =>
      withinSeconds(limitFor(call), read, cancel),
  };
}

function createSilenceLimit(limit: number, signal: AbortSignal | undefined) {
  const silent = new AbortController();
  const start = () => setTimeout(() => silent.abort(silenceError(limit)), limit * 1000);
  let timer = start();
  let isStopped = false;
  /** Stops the time until `onBytes`. */
  const pause = () => clearTimeout(timer);
  return {
    /** Aborts with the signal of the call, or when the server was silent for too long. */
    signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    /** Whether the server was silent for too long. */
    isExceeded: () => silent.signal.aborted,
    /** Starts the time again: the server has taken or sent bytes. */
    onBytes(): void {
      pause();
      // The rest of a body may be sent after an early response.
      if (!isStopped) timer = start();
    },
    pause,
    /** Stops the time for good. */
    stop(): void {
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
