/** Replies: those of handlers, those for errors, and the headers that every endpoint has. */
import type { Readable } from 'node:stream';
import { PoproomError } from '../../core/errors.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import type { ErrorBody } from '../../protocol/types.ts';

/** Sent with every response. */
export const fixedHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A stream of known length needs a Content-Length in the headers. */
  body?: string | Uint8Array | Readable;
  /** Whether these bytes are in memory only for this reply. Others are shared between clients. */
  isOwnBody?: true;
  /** How long the client asked to wait. It is not part of the duration of the request. */
  waitedMs?: number;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return jsonText(status, JSON.stringify(value), headers);
}

/** A reply with serialized JSON. */
export function jsonText(status: number, body: string, headers?: Record<string, string>): Reply {
  const common = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers: headers ? Object.assign(common, headers) : common, body };
}

/** The status of each error. */
export const statusOf: Record<ErrorCode, number> = {
  VALIDATION_FAILED: 400,
  INVALID_JSON: 400,
  ENCRYPTION_REQUIRED: 400,
  PIN_REQUIRED: 401,
  KEY_REQUIRED: 401,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 401,
  PASSWORD_REQUIRED: 401,
  INVALID_ADMIN_TOKEN: 401,
  PASSWORD_INCORRECT: 403,
  SIGN_IN_REQUIRED: 403,
  PIN_INCORRECT: 403,
  KEY_INCORRECT: 403,
  READ_ONLY: 403,
  DROP_ONLY: 403,
  INVALID_TICKET: 403,
  ORIGIN_NOT_ALLOWED: 403,
  WEBHOOK_NOT_ALLOWED: 403,
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
  TOO_MANY_WEBHOOKS: 409,
  REQUEST_IN_PROGRESS: 409,
  TOO_MANY_LINKS: 409,
  TOO_MANY_REPORTS: 409,
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
  PASSWORD_REQUIRED: 'CreatePassword',
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

const exposed =
  'ETag, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ' +
  'X-Request-Id, Content-Disposition, Content-Range, Allow, Location, Idempotency-Replayed';

/** Pages of any origin may use the API and the files. There are no cookies, so no credentials are needed. */
export const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed };

/** Only for uploads in several requests: the longer list would be sent with every response. */
export const tusCorsHeaders = {
  ...corsHeaders,
  'Access-Control-Expose-Headers':
    `${exposed}, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ` +
    'Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-File-Url',
};

export function preflight(allow: string[], isSameOriginOnly: boolean): Reply {
  if (isSameOriginOnly) return { status: 204, headers: { Allow: allow.join(', '), 'Cache-Control': 'no-store' } };
  return {
    status: 204,
    headers: {
      Allow: allow.join(', '),
      'Access-Control-Allow-Methods': allow.join(', '),
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range, ' +
        'traceparent, tracestate, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, Upload-Metadata, ' +
        'Upload-Offset, X-API-Key, X-Create-Password, X-Device-Id, X-File-Meta, X-File-Name, X-HTTP-Method-Override, X-Request-Id, ' +
        'X-Requested-With, X-Resume-Token, X-Room-Auth, X-Room-Pin, X-Upload-Ticket',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
    },
  };
}

export const tusVersion = '1.0.0';

/** The length of each checksum in bytes. */
export const checksumAlgorithms: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, md5: 16 };

/** On every response to a tus request, errors included. */
export const tusHeaders = { 'Tus-Resumable': tusVersion, 'Tus-Version': tusVersion };

/** On a response to OPTIONS. */
export const tusCapabilities = (maxBytes: number): Record<string, string> => ({
  'Tus-Extension': 'creation,creation-with-upload,termination,expiration,checksum',
  'Tus-Checksum-Algorithm': Object.keys(checksumAlgorithms).join(','),
  'Tus-Max-Size': String(maxBytes),
});
