/** An example of each error, for the OpenAPI document and the docs page. */
import type { ErrorCode } from '../../src/protocol/error-codes.ts';

interface ErrorExample {
  message: string;
  details?: Record<string, unknown>;
}

export const errorExamples: Record<ErrorCode, ErrorExample> = {
  VALIDATION_FAILED: {
    message: '"pin" must be a string of exactly four digits, for example "0427".',
    details: { field: 'pin' },
  },
  INVALID_ADMIN_TOKEN: { message: 'The admin token is missing or wrong. Send it as Authorization: Bearer TOKEN.' },
  ADDRESS_BLOCKED: {
    message: 'The operator of this server has blocked your address.',
    details: { until: '2026-11-16T09:30:00.000Z' },
  },
  WEBHOOK_NOT_ALLOWED: {
    message: 'This server does not allow webhooks to this host. The operator can allow it with POPROOM_WEBHOOK_HOSTS.',
    details: { field: 'url' },
  },
  TOO_MANY_REPORTS: { message: 'The operator has too many open reports. Contact the operator directly.' },
  TOO_MANY_WEBHOOKS: { message: 'A room can have at most 5 webhooks.', details: { maximum: 5 } },
  INVALID_JSON: { message: 'The body is not well-formed JSON.' },
  PIN_REQUIRED: { message: 'This room requires a PIN. Over HTTP, send it in the header X-Room-Pin.' },
  KEY_REQUIRED: {
    message: 'This room is encrypted. Send X-Room-Auth, which clients derive from the room key.',
    details: { scheme: 'pop1', salt: 'AAECAwQFBgcICQoLDA0ODw' },
  },
  KEY_INCORRECT: { message: 'Wrong room key. 4 tries left.', details: { triesLeft: 4 } },
  KEY_LOCKED: {
    message: 'Too many wrong room keys for this room. Try again in 30 seconds.',
    details: { retryAfter: 30 },
  },
  EDIT_CONFLICT: {
    message: 'Someone else has changed the text. Rebase your edit over the newer ones, and send it again.',
    details: {
      version: 7,
      timestamp: '2026-11-15T09:30:00.000Z',
      sealedEdits: [
        { version: 7, sealed: 'pop1.QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX…', timestamp: '2026-11-15T09:30:00.000Z' },
      ],
    },
  },
  COMPACTION_REQUIRED: {
    message: 'The log of this encrypted room is full. Store a snapshot of the text, or replace the text.',
    details: { version: 1000 },
  },
  ENCRYPTION_REQUIRED: {
    message: 'This room is encrypted. "content" must be sealed: "pop1." and base64url of a legal length.',
    details: { field: 'content' },
  },
  BASE_VERSION_REQUIRED: {
    message: 'Writes to an encrypted room must name their base version. Send it in If-Match.',
    details: { field: 'If-Match' },
  },
  API_KEY_REQUIRED: { message: 'This server requires an API key. Send it as Authorization: Bearer KEY.' },
  INVALID_API_KEY: { message: 'This API key is unknown or has been revoked.' },
  PASSWORD_REQUIRED: {
    message:
      'This server requires a password for creating rooms. Send it, or a token from /api/create-token, as X-Create-Password.',
  },
  PASSWORD_INCORRECT: { message: 'The password for creating rooms is wrong.' },
  SIGN_IN_REQUIRED: { message: 'Only users who have signed in may create rooms on this server.' },
  PIN_INCORRECT: { message: 'Wrong PIN. 4 tries left.', details: { triesLeft: 4 } },
  INVALID_TICKET: { message: 'This link has expired or belongs to another room. Request a new one.' },
  READ_ONLY: { message: 'This link may only read the room.' },
  DROP_ONLY: { message: 'This link may only add files to the room.' },
  TOO_MANY_LINKS: {
    message: 'This room has reached its limit of 20 links. Revoke one and try again.',
    details: { maximum: 20 },
  },
  ROOM_NOT_FOUND: { message: 'There is no room with this code.' },
  UPLOAD_NOT_FOUND: {
    message: 'There is no such unfinished upload. It is complete, was cancelled or has expired.',
  },
  CLAIM_NOT_FOUND: {
    message: 'There is no such claim. It has expired, was given back, or its file was received or removed.',
  },
  FILE_NOT_FOUND: { message: 'This file does not exist, or its room has ended.' },
  NOT_FOUND: { message: 'No endpoint has this path. /docs lists all endpoints.' },
  METHOD_NOT_ALLOWED: {
    message: 'This path does not support PUT. Use one of GET, DELETE, HEAD, OPTIONS.',
    details: { allow: ['GET', 'DELETE', 'HEAD', 'OPTIONS'] },
  },
  ROOM_EXPIRED: { message: 'This room has expired. Its text and files have been deleted.' },
  ONE_TIME_FILE: {
    message:
      'This file can be received only once, so its link does not open it. Receive it in the room, or claim it with ' +
      'POST /api/rooms/ROOM/files/9f86d081884c7d659a2feaa0c55ad015/claim.',
  },
  FILE_CLAIMED: {
    message: 'Someone else is receiving this file. If they do not finish, it is available again within 29 minutes.',
    details: { retryAfter: 1_722 },
  },
  NOT_ONE_TIME_FILE: { message: 'This is not a one-time file. Download it from its URL.' },
  UPLOAD_CONFLICT: { message: 'The upload has 5,242,880 bytes. Continue from there.', details: { offset: 5_242_880 } },
  REQUEST_IN_PROGRESS: {
    message: 'A request with this Idempotency-Key is still running. Try again in 1 second.',
    details: { field: 'Idempotency-Key' },
  },
  IDEMPOTENCY_KEY_REUSED: {
    message: 'This Idempotency-Key was used for a different request. Use a new key for each request.',
    details: { field: 'Idempotency-Key' },
  },
  ORIGIN_NOT_ALLOWED: {
    message: 'Pages of this origin may not open live channels on this server.',
    details: { field: 'Origin' },
  },
  UPGRADE_REQUIRED: {
    message: 'This endpoint requires a WebSocket. Use /events to follow a room over plain HTTP.',
  },
  UNSUPPORTED_VERSION: { message: 'Send Tus-Resumable: 1.0.0, the only version supported here.' },
  CHECKSUM_MISMATCH: { message: 'The bytes do not match their checksum. They were not stored.' },
  VERSION_CONFLICT: {
    message: 'Someone else has changed the text. Nothing was overwritten.',
    details: { content: 'Hello, world', version: 7, timestamp: '2026-11-15T09:30:00.000Z' },
  },
  CONTENT_TOO_LARGE: {
    message: 'The text exceeds the limit of 1,048,576 bytes of UTF-8.',
    details: { maximum: 1_048_576 },
  },
  FILE_TOO_LARGE: {
    message: 'The file exceeds the limit of 10 MiB (10,485,760 bytes).',
    details: { maximum: 10_485_760 },
  },
  ROOM_FULL: {
    message:
      'This room has reached its limit of 100 files or 100 MiB (104,857,600 bytes). Remove a file and try again.',
    details: { maximumFiles: 100, maximumBytes: 104_857_600 },
  },
  QUOTA_EXCEEDED: {
    message: 'You are using 498.2 MiB of 500 MiB. Remove files, or wait until rooms expire.',
    details: { scope: 'client', used: 522_400_563, maximum: 524_288_000, freesAt: '2026-11-16T09:30:00.000Z' },
  },
  UNSUPPORTED_MEDIA_TYPE: { message: 'Send the body as JSON with Content-Type: application/json.' },
  RATE_LIMITED: {
    message: 'Too many requests: the free tier allows 100 per hour. Try again in 21 minutes.',
    details: { reason: 'requests', retryAfter: 1243, limit: 100 },
  },
  PIN_LOCKED: {
    message: 'Too many wrong PINs for this room. Try again in 30 seconds.',
    details: { retryAfter: 30 },
  },
  INTERNAL: { message: 'Something went wrong on the server. The error has been logged.' },
  UNAVAILABLE: { message: 'The database does not accept writes at the moment. Try again later.' },
  STORAGE_FULL: { message: 'The server has no space left for files.' },
};
