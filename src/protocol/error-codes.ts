/** All error codes, with their documentation. */
export const errorCodes = {
  VALIDATION_FAILED: 'A value is missing, has the wrong type or is out of range. The message names it.',
  INVALID_JSON: 'The body is not well-formed JSON in UTF-8.',
  PIN_REQUIRED: 'The room requires a PIN and the request has none.',
  KEY_REQUIRED: 'The room is encrypted and the request has no X-Room-Auth. See salt in details.',
  API_KEY_REQUIRED: 'This server requires an API key, for every request or for creating rooms.',
  INVALID_API_KEY: 'The API key is unknown or revoked.',
  PASSWORD_REQUIRED:
    'This server requires a password for creating rooms, or the token that was sent instead has expired.',
  INVALID_ADMIN_TOKEN: 'The admin token is missing or wrong.',
  PASSWORD_INCORRECT: 'The password for creating rooms is wrong.',
  SIGN_IN_REQUIRED: 'Only users who have signed in at the proxy of this server may create rooms.',
  PIN_INCORRECT: 'The PIN is wrong.',
  KEY_INCORRECT: 'The X-Room-Auth is wrong: it was derived from another room key or salt.',
  READ_ONLY: 'The link may only read the room.',
  DROP_ONLY: 'The link may only add files to the room.',
  INVALID_TICKET: 'The ticket has expired, or belongs to another room. Request a new one.',
  ORIGIN_NOT_ALLOWED:
    'Pages of this origin may not open live channels on this server. The operator can allow it with POPROOM_ALLOWED_ORIGINS.',
  WEBHOOK_NOT_ALLOWED: 'The operator has not allowed webhooks to this host.',
  ADDRESS_BLOCKED: 'The operator has blocked the address of the client. See until in details, if the block ends.',
  ROOM_NOT_FOUND: 'No room has this code, or it was deleted. No link has this id, or it was revoked.',
  FILE_NOT_FOUND: 'No file has this URL, or its room has ended.',
  CLAIM_NOT_FOUND: 'There is no such claim: it has expired, was given back, or its file was received or removed.',
  UPLOAD_NOT_FOUND: 'There is no such unfinished upload: it is complete, was removed or has expired.',
  NOT_FOUND: 'There is no such path or resource.',
  METHOD_NOT_ALLOWED: 'The path does not support this method. See the Allow header.',
  ROOM_EXPIRED: 'The room expired within the last 24 hours, or the link has expired.',
  TOO_MANY_LINKS: 'The room has the maximum number of links. Revoke one first.',
  ONE_TIME_FILE: 'The file can be received only once, with a claim. Reading its URL without one does not use it up.',
  FILE_CLAIMED: 'Someone else is receiving the one-time file. See Retry-After.',
  NOT_ONE_TIME_FILE: 'The file is not a one-time file. Read it at its URL, without a claim.',
  UPLOAD_CONFLICT: 'The upload has another offset than the request. See offset in details.',
  TOO_MANY_WEBHOOKS: 'The room has the maximum number of webhooks. See maximum in details.',
  TOO_MANY_REPORTS: 'There are too many open reports: about the room, from the client or in total.',
  REQUEST_IN_PROGRESS: 'An upload with this Idempotency-Key is still running. See Retry-After.',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used for a different request.',
  VERSION_CONFLICT:
    'The text has changed since the version that the request is based on, or the file has another version.',
  EDIT_CONFLICT:
    'The text of an encrypted room has changed since baseVersion. Rebase over sealedEdits in details, and send it again.',
  COMPACTION_REQUIRED: 'The log of sealed edits is full. Store a snapshot of the text, or replace the text.',
  ENCRYPTION_REQUIRED: 'The room is encrypted and accepts only sealed data. Nothing was stored.',
  BASE_VERSION_REQUIRED: 'Writes to an encrypted room must name the version that they are based on.',
  CONTENT_TOO_LARGE: 'The text or the request body exceeds the limit.',
  FILE_TOO_LARGE: 'The file exceeds the limit.',
  ROOM_FULL: 'The room has reached its limit for files or bytes.',
  QUOTA_EXCEEDED: 'The client has reached its storage limit. See used, maximum and freesAt in details.',
  CHECKSUM_MISMATCH: 'The bytes do not match their checksum. They were not stored.',
  UNSUPPORTED_VERSION: 'The request names no version of tus, or one that the server does not support.',
  UNSUPPORTED_MEDIA_TYPE: 'This path does not support the content type or content encoding.',
  UPGRADE_REQUIRED: 'This endpoint requires a WebSocket, version 13.',
  RATE_LIMITED:
    'A limit was reached. The reason in details names it: requests, misses (unknown codes; wrong PINs, room keys, passwords and admin tokens), devices (in the room), channels, messages or work (CPU time for texts). See Retry-After.',
  PIN_LOCKED: 'Too many wrong PINs. See Retry-After.',
  KEY_LOCKED: 'Too many wrong room keys from this client. The correct one works. See Retry-After.',
  INTERNAL: 'An unexpected error on the server. Report it to the operator with the request id.',
  UNAVAILABLE: 'The server is overloaded, or a store does not respond. See Retry-After.',
  STORAGE_FULL: 'The server is out of storage space.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Why the last attempt to reach a webhook failed: stable codes, for programs and translations. */
export const webhookErrors = {
  STATUS: 'The host responded with another status than 200 to 299; see `status`.',
  REDIRECT: 'The host responded with a redirect, which is not followed.',
  TIMEOUT: 'The host did not respond in time.',
  UNKNOWN_HOST: 'The host name could not be resolved.',
  REFUSED: 'The host refused the connection.',
  CERTIFICATE: 'The certificate of the host is not valid.',
  CONNECTION: 'The connection failed for another reason.',
  PRIVATE_ADDRESS: 'The host has a private address, which the operator has not allowed.',
  NOT_ALLOWED: 'The operator no longer allows this host.',
  DROPPED: 'Too many events were waiting, and the oldest ones were dropped.',
} as const;

export type WebhookErrorCode = keyof typeof webhookErrors;
