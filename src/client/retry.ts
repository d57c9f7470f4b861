/** Decides when to retry, and when not to. */
import { PoproomError, type PoproomErrorCode } from './error.ts';

const final: ReadonlySet<PoproomErrorCode> = new Set([
  'ROOM_NOT_FOUND',
  'ROOM_EXPIRED',
  'PIN_REQUIRED',
  'PIN_INCORRECT',
  'PIN_LOCKED',
  'KEY_REQUIRED',
  'KEY_INCORRECT',
  'KEY_LOCKED',
  'KEY_MALFORMED',
  'KEY_MISTYPED',
  'NOT_ENCRYPTED',
  'ENCRYPTION_REQUIRED',
  'DATA_DAMAGED',
  'ROLLBACK',
  'FORK',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'ADDRESS_BLOCKED',
  'ORIGIN_NOT_ALLOWED',
  'VALIDATION_FAILED',
]);

/** Whether a retry without a change would fail in the same way. */
export const isFinal = ({ code }: PoproomError): boolean => final.has(code);

/** The codes of errors after which a transfer can continue. */
export const temporaryFailures: readonly string[] = ['OFFLINE', 'TIMEOUT', 'UNAVAILABLE', 'INTERNAL', 'RATE_LIMITED'];

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** Poproom servers request at most an hour. A timer that overflows would fire immediately. */
const maxRequestedMs = 86_400_000;

/** Milliseconds to wait. Below a second, which could become a busy loop, they double with each failure, with jitter. */
export function retryDelay({ retryAfter = 0 }: PoproomError, failures: number): number {
  const requestedMs = Math.min(maxRequestedMs, retryAfter * 1000);
  if (requestedMs >= 1000) return requestedMs;
  const ownMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.max(0, failures - 1)) * (0.5 + Math.random() / 2);
  return Math.max(requestedMs, ownMs);
}

/**
 * The same for a lost connection: if the server has not requested a delay, a random part of the time over which it wants
 * its clients to spread, so that they do not all return together. At most half a minute, whatever it wants.
 */
export function spreadDelay(error: PoproomError, failures: number, spreadMs: number): number {
  const spread = error.retryAfter === undefined ? Math.random() * Math.min(maxDelayMs, spreadMs) : 0;
  return Math.max(retryDelay(error, failures), spread);
}

export interface RetryOptions {
  /** Maximum number of attempts, including the first. Default: 5. */
  attempts?: number | undefined;
  /** Fails without a retry if the server requests a longer delay than this many seconds. Default: 60. */
  maxSeconds?: number | undefined;
}

/** A failed attempt that is repeated. */
export interface RetryEvent {
  /** The number of attempts that have failed, without progress between them. */
  readonly attempt: number;
  readonly error: PoproomError;
  /** The time until the next attempt, in milliseconds. */
  readonly waitMs: number;
}

export type OnRetry = (event: RetryEvent) => void;

const temporary: ReadonlySet<PoproomErrorCode> = new Set(['RATE_LIMITED', 'PIN_LOCKED', 'KEY_LOCKED', 'UNAVAILABLE']);

interface RetryableRequest {
  method?: string | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  signal?: AbortSignal | undefined;
}

export type Retry = <T>(attempt: () => Promise<T>, request: RetryableRequest) => Promise<T>;

/** With this header, the server executes a request once, however often it is sent. */
const idempotencyHeader = 'Idempotency-Key';

export const newIdempotencyKey = (): Record<string, string> => ({ [idempotencyHeader]: randomHex() });

/** Works in pages without HTTPS too, where browsers have no `randomUUID`. */
const randomHex = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns a function that retries temporary failures, unless that could execute a request twice. */
export function createRetry(options: RetryOptions | undefined, onRetry?: OnRetry): Retry {
  const { attempts = options ? 5 : 1, maxSeconds = 60 } = options ?? {};

  return async (attempt, { method = 'GET', headers, signal }) => {
    const hasKey = headers?.[idempotencyHeader] !== undefined;
    for (let failures = 1; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (failures >= attempts || !(error instanceof PoproomError)) throw error;
        if (!(temporary.has(error.code) || (hasKey && isRepeatable(error)))) throw error;
        if (method !== 'GET' && !hasKey && !wasNotExecuted(error)) throw error;
        const waitMs = retryDelay(error, failures);
        if (waitMs > maxSeconds * 1000) throw error;
        onRetry?.({ attempt: failures, error, waitMs });
        await delay(waitMs, signal);
      }
    }
  };
}

/** Whether a request with a key can be sent again: its response was lost, or it is still running. */
function isRepeatable({ code, cause }: PoproomError): boolean {
  const isLost = code === 'TIMEOUT' || (code === 'OFFLINE' && !unreachable.has(systemCodeOf(cause)));
  return isLost || code === 'REQUEST_IN_PROGRESS';
}

/** The request was not sent, and the user should learn that soon. */
const unreachable: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Node wraps the error of the system. Browsers do not reveal it. */
const systemCodeOf = (error: unknown): unknown =>
  (error as { cause?: { code?: unknown } } | undefined)?.cause?.code ?? (error as { code?: unknown } | undefined)?.code;

/** After a 502 or 504 from a proxy, the server may have executed the request. */
function wasNotExecuted({ details: { status }, retryAfter }: PoproomError): boolean {
  const isFromServer = status === undefined;
  return isFromServer || status === 429 || (status === 503 && retryAfter !== undefined);
}

/** Resolves after a time, or rejects when the signal aborts. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
