/** WebSocket close codes. Other transports send only the reason. */
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { Closed } from '../protocol/types.ts';

export const tooFast = 4429;
export const policy = 1008;

const ofError: Partial<Record<ErrorCode, number>> = {
  PIN_REQUIRED: 4401,
  API_KEY_REQUIRED: 4401,
  INVALID_API_KEY: 4401,
  PIN_INCORRECT: 4403,
  ROOM_NOT_FOUND: 4404,
  ROOM_EXPIRED: 4410,
  PIN_LOCKED: tooFast,
  RATE_LIMITED: tooFast,
  CONTENT_TOO_LARGE: 1009,
  UNAVAILABLE: 1012,
  INTERNAL: 1011,
};

export const closeCodeOf = (code: ErrorCode): number => ofError[code] ?? policy;

export const closeCodeFor: Record<Closed['reason'], number> = { deleted: 4410, expired: 4410, shutdown: 1012 };
