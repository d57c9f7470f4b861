/** All error codes, with their documentation. */
export const errorCodes = {
  VALIDATION_FAILED: 'A value is missing, has the wrong type or is out of range. The message names it.',
  INVALID_JSON: 'The body is not well-formed JSON in UTF-8.',
  PIN_REQUIRED: 'The room requires a PIN and the request has none.',
  API_KEY_REQUIRED: 'This server requires an API key.',
  INVALID_API_KEY: 'The API key is unknown or revoked.',
  PIN_INCORRECT: 'The PIN is wrong.',
  INVALID_TICKET: 'The ticket has expired, or belongs to another room. Request a new one.',
  ORIGIN_NOT_ALLOWED:
    'Pages of this origin may not open live channels on this server. The operator can allow it with POPROOM_ALLOWED_ORIGINS.',
  ROOM_NOT_FOUND: 'No room has this code, or it was deleted.',
  FILE_NOT_FOUND: 'No file has this URL, or its room has ended.',
  CLAIM_NOT_FOUND: 'There is no such claim: it has expired, was given back, or its file was received or removed.',
  UPLOAD_NOT_FOUND: 'There is no such unfinished upload: it is complete, was removed or has expired.',
  NOT_FOUND: 'There is no such path or resource.',
  METHOD_NOT_ALLOWED: 'The path does not support this method. See the Allow header.',
  ROOM_EXPIRED: 'The room expired within the last 24 hours.',
  ONE_TIME_FILE: 'The file can be received only once, with a claim. Reading its URL without one does not use it up.',
  FILE_CLAIMED: 'Someone else is receiving the one-time file. See Retry-After.',
  NOT_ONE_TIME_FILE: 'The file can be read at its URL, and needs no claim.',
  UPLOAD_CONFLICT: 'The upload has another offset than the request. See offset in details.',
  REQUEST_IN_PROGRESS: 'A request with this Idempotency-Key is still running. See Retry-After.',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used for a different request.',
  VERSION_CONFLICT:
    'The text has changed since the version that the request is based on, or the file is another version.',
  CONTENT_TOO_LARGE: 'The text or the request body exceeds the limit.',
  FILE_TOO_LARGE: 'The file exceeds the limit.',
  ROOM_FULL: 'The room has reached its limit for files or bytes.',
  QUOTA_EXCEEDED: 'The client has reached its storage limit. See used, maximum and freesAt in details.',
  CHECKSUM_MISMATCH: 'The bytes do not match their checksum. They were not stored.',
  UNSUPPORTED_VERSION: 'The request names no version of tus, or one that the server does not support.',
  UNSUPPORTED_MEDIA_TYPE: 'This path does not support the content type or content encoding.',
  UPGRADE_REQUIRED: 'This endpoint requires a WebSocket, version 13.',
  RATE_LIMITED:
    'A limit was reached. The reason in details names it: requests, misses (unknown codes and wrong PINs), devices in the room or channels of the client. See Retry-After.',
  PIN_LOCKED: 'Too many wrong PINs. See Retry-After.',
  INTERNAL: 'An unexpected error on the server. Report it to the operator with the request id.',
  UNAVAILABLE: 'The server is overloaded, or a store does not respond. See Retry-After.',
  STORAGE_FULL: 'The server is out of storage space.',
} as const;

export type ErrorCode = keyof typeof errorCodes;
