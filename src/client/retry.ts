/** When to come back, and when not to. */
import { PoproomError, type PoproomErrorCode } from './error.ts';
import { pause } from './pause.ts';

const final: ReadonlySet<PoproomErrorCode> = new Set([
  'ROOM_NOT_FOUND',
  'ROOM_EXPIRED',
  'PIN_REQUIRED',
  'PIN_INCORRECT',
  'PIN_LOCKED',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'VALIDATION_FAILED',
]);

/** Whether coming back without a change would end the same way. */
export const isFinal = ({ code }: PoproomError): boolean => final.has(code);

const firstMs = 500;
const longestMs = 30_000;
/** No server of ours asks for more than an hour, and a timer cannot wait for ever: it would not wait at all. */
const longestAskedMs = 86_400_000;

/**
 * What the server asks for. Less than a second of that may be a mistake, and a busy loop: then, as where nothing is
 * asked for, it is twice as long after each failure, and never the same for all that were cut off at once.
 */
export function waitingTime({ retryAfter = 0 }: PoproomError, failures: number): number {
  const askedMs = Math.min(longestAskedMs, retryAfter * 1000);
  if (askedMs >= 1000) return askedMs;
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1)) * (0.5 + Math.random() / 2);
  return Math.max(askedMs, ownMs);
}

export interface RetryOptions {
  /** How often at most a request is sent, the first time included; 5 when not said. */
  attempts?: number | undefined;
  /** Fails at once where the server asks for more patience than this; 60 when not said. */
  maxSeconds?: number | undefined;
}

const refusedForNow: ReadonlySet<PoproomErrorCode> = new Set(['RATE_LIMITED', 'PIN_LOCKED', 'UNAVAILABLE']);

/** What is tried. */
export interface Attempt {
  method?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Tries again what is refused for a while, where that cannot do it twice. */
export function createPersistence(options: RetryOptions | undefined) {
  const { attempts = options ? 5 : 1, maxSeconds = 60 } = options ?? {};

  return async function persist<T>(attempt: () => Promise<T>, { method = 'GET', signal }: Attempt): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (failures >= attempts || !(error instanceof PoproomError && refusedForNow.has(error.code))) throw error;
        if (method !== 'GET' && !isSurelyUndone(error)) throw error;
        const ms = waitingTime(error, failures);
        if (ms > maxSeconds * 1000) throw error;
        await pause(ms, signal);
      }
    }
  };
}

/** A proxy that lost its patience or its server, and says 502 or 504, does not know what the server did. */
function isSurelyUndone({ details: { status }, retryAfter }: PoproomError): boolean {
  const isFromServer = status === undefined;
  return isFromServer || status === 429 || (status === 503 && retryAfter !== undefined);
}
