/** Converts errors to responses: one table from code to status, one format. */
import { PoproomError } from '../../core/errors.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import type { ErrorBody } from '../../protocol/types.ts';
import { json, type Reply } from './reply.ts';

export const statusOf: Record<ErrorCode, number> = {
  VALIDATION_FAILED: 400,
  INVALID_JSON: 400,
  ENCRYPTION_REQUIRED: 400,
  PIN_REQUIRED: 401,
  KEY_REQUIRED: 401,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 401,
  INVALID_ADMIN_TOKEN: 401,
  PIN_INCORRECT: 403,
  KEY_INCORRECT: 403,
  INVALID_TICKET: 403,
  ORIGIN_NOT_ALLOWED: 403,
  ADDRESS_BLOCKED: 403,
  ROOM_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  UPLOAD_NOT_FOUND: 404,
  CLAIM_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  UPLOAD_CONFLICT: 409,
  EDIT_CONFLICT: 409,
  COMPACTION_REQUIRED: 409,
  ONE_TIME_FILE: 409,
  FILE_CLAIMED: 409,
  NOT_ONE_TIME_FILE: 409,
  REQUEST_IN_PROGRESS: 409,
  ROOM_EXPIRED: 410,
  VERSION_CONFLICT: 412,
  UNSUPPORTED_VERSION: 412,
  CONTENT_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  ROOM_FULL: 413,
  QUOTA_EXCEEDED: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  UPGRADE_REQUIRED: 426,
  BASE_VERSION_REQUIRED: 428,
  RATE_LIMITED: 429,
  PIN_LOCKED: 429,
  KEY_LOCKED: 429,
  // Defined by tus.
  CHECKSUM_MISMATCH: 460,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  STORAGE_FULL: 507,
};

/** HTTP requires every 401 to name an authentication scheme. */
const challengeOf: Partial<Record<ErrorCode, string>> = {
  API_KEY_REQUIRED: 'Bearer',
  INVALID_API_KEY: 'Bearer error="invalid_token"',
  INVALID_ADMIN_TOKEN: 'Bearer realm="admin"',
  PIN_REQUIRED: 'RoomPin',
  KEY_REQUIRED: 'RoomKey',
};

/** HTTP requires them with a 426, and WebSocket names the version. */
const requiredUpgrade = { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Sec-WebSocket-Version': '13' };

export function errorReply(error: unknown, requestId: string): Reply {
  const known = error instanceof PoproomError ? error : internal(error);
  const retryAfter = known.retryAfter ?? (known.code === 'UNAVAILABLE' ? 1 : undefined);
  const challenge = challengeOf[known.code];
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (known.code === 'UPGRADE_REQUIRED') Object.assign(headers, requiredUpgrade);
  if (challenge) headers['WWW-Authenticate'] = challenge;
  if (Array.isArray(known.details?.allow)) headers.Allow = known.details.allow.join(', ');
  return json(statusOf[known.code], errorBody(known, requestId), headers);
}

export function errorBody({ code, message, details }: PoproomError, requestId: string): ErrorBody {
  return { success: false, error: { code, message, ...(details && { details }) }, requestId };
}

export const codeOf = (error: unknown): ErrorCode => (error instanceof PoproomError ? error.code : 'INTERNAL');

/** The error for the operator's log: the cause of a deliberate rejection, or the unexpected error itself. */
export function causeOf(error: unknown): unknown {
  const deliberate = error instanceof PoproomError && statusOf[error.code] >= 500;
  return deliberate ? (error.cause ?? error) : error;
}

/** Details of unexpected errors go to the log only. */
function internal(cause: unknown): PoproomError {
  return new PoproomError('INTERNAL', 'Something went wrong on the server. The error has been logged.', { cause });
}
