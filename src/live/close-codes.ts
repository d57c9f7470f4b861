/** Chooses the WebSocket close code. Other transports send only the reason. */
import type { CloseCode } from '../protocol/close-codes.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { Closed } from '../protocol/types.ts';

export const tooFast = 4429 satisfies CloseCode;
export const policy = 1008 satisfies CloseCode;

const ofError: Partial<Record<ErrorCode, CloseCode>> = {
  PIN_REQUIRED: 4401,
  KEY_REQUIRED: 4401,
  API_KEY_REQUIRED: 4401,
  INVALID_API_KEY: 4401,
  PIN_INCORRECT: 4403,
  KEY_INCORRECT: 4403,
  ROOM_NOT_FOUND: 4404,
  ROOM_EXPIRED: 4410,
  PIN_LOCKED: tooFast,
  KEY_LOCKED: tooFast,
  RATE_LIMITED: tooFast,
  CONTENT_TOO_LARGE: 1009,
  UNAVAILABLE: 1012,
  INTERNAL: 1011,
};

export const closeCodeOf = (code: ErrorCode): CloseCode => ofError[code] ?? policy;

export const closeCodeFor: Record<Closed['reason'], CloseCode> = { deleted: 4410, expired: 4410, shutdown: 1012 };
