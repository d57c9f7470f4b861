/** When to come back, and when not to. */
import type { PoproomError, PoproomErrorCode } from './error.ts';

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

/** What the server asks for, or twice as long after each failure; never the same for all that were cut off at once. */
export function waitingTime({ retryAfter }: PoproomError, failures: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1)) * (0.5 + Math.random() / 2);
}
