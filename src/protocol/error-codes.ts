/** All error codes, each with the status of its response and its documentation. */
export const errorCodes = {
  VALIDATION_FAILED: [400, 'A value is missing, has the wrong type or is out of range. The message names it.'],
  INVALID_JSON: [400, 'The body is not well-formed JSON in UTF-8.'],
  PIN_REQUIRED: [401, 'The room requires a PIN and the request has none.'],
  KEY_REQUIRED: [401, 'The room is encrypted and the request has no X-Room-Auth. See salt in details.'],
  API_KEY_REQUIRED: [401, 'This server requires an API key, for every request or for creating rooms.'],
  INVALID_API_KEY: [401, 'The API key is unknown or revoked.'],
  PASSWORD_REQUIRED: [
    401,
    'This server requires a password for creating rooms, or the token that was sent instead has expired.',
  ],
  INVALID_ADMIN_TOKEN: [401, 'The admin token is missing or wrong.'],
  PASSWORD_INCORRECT: [403, 'The password for creating rooms is wrong.'],
  SIGN_IN_REQUIRED: [403, 'Only users who have signed in at the proxy of this server may create rooms.'],
  PIN_INCORRECT: [403, 'The PIN is wrong.'],
  KEY_INCORRECT: [403, 'The X-Room-Auth is wrong: it was derived from another room key or salt.'],
  READ_ONLY: [403, 'The link may only read the room.'],
  DROP_ONLY: [403, 'The link may only add files to the room.'],
  INVALID_TICKET: [403, 'The ticket has expired, or belongs to another room. Request a new one.'],
  ORIGIN_NOT_ALLOWED: [
    403,
    'Pages of this origin may not open live channels on this server. The operator can allow it with POPROOM_ALLOWED_ORIGINS.',
  ],
  WEBHOOK_NOT_ALLOWED: [403, 'The operator has not allowed webhooks to this host.'],
  ADDRESS_BLOCKED: [
    403,
    'The operator has blocked the address of the client. See until in details, if the block ends.',
  ],
  ROOM_NOT_FOUND: [404, 'No room has this code, or it was deleted. No link has this id, or it was revoked.'],
  FILE_NOT_FOUND: [404, 'No file has this URL, or its room has ended.'],
  CLAIM_NOT_FOUND: [
    404,
    'There is no such claim: it has expired, was given back, or its file was received or removed.',
  ],
  UPLOAD_NOT_FOUND: [404, 'There is no such unfinished upload: it is complete, was removed or has expired.'],
  NOT_FOUND: [404, 'There is no such path or resource.'],
  METHOD_NOT_ALLOWED: [405, 'The path does not support this method. See the Allow header.'],
  ROOM_EXPIRED: [410, 'The room expired within the last 24 hours, or the link has expired.'],
  TOO_MANY_LINKS: [409, 'The room has the maximum number of links. Revoke one first.'],
  ONE_TIME_FILE: [
    409,
    'The file can be received only once, with a claim. Reading its URL without one does not use it up.',
  ],
  FILE_CLAIMED: [409, 'Someone else is receiving the one-time file. See Retry-After.'],
  NOT_ONE_TIME_FILE: [409, 'The file is not a one-time file. Read it at its URL, without a claim.'],
  UPLOAD_CONFLICT: [409, 'The upload has another offset than the request. See offset in details.'],
  TOO_MANY_WEBHOOKS: [409, 'The room has the maximum number of webhooks. See maximum in details.'],
  TOO_MANY_REPORTS: [409, 'There are too many open reports: about the room, from the client or in total.'],
  REQUEST_IN_PROGRESS: [409, 'An upload with this Idempotency-Key is still running. See Retry-After.'],
  IDEMPOTENCY_KEY_REUSED: [422, 'The Idempotency-Key was used for a different request.'],
  VERSION_CONFLICT: [
    412,
    'The text has changed since the version that the request is based on, or the file has another version.',
  ],
  EDIT_CONFLICT: [
    409,
    'The text of an encrypted room has changed since baseVersion. Rebase over sealedEdits in details, and send it again.',
  ],
  COMPACTION_REQUIRED: [409, 'The log of sealed edits is full. Store a snapshot of the text, or replace the text.'],
  ENCRYPTION_REQUIRED: [400, 'The room is encrypted and accepts only sealed data. Nothing was stored.'],
  BASE_VERSION_REQUIRED: [428, 'Writes to an encrypted room must name the version that they are based on.'],
  CONTENT_TOO_LARGE: [413, 'The text or the request body exceeds the limit.'],
  FILE_TOO_LARGE: [413, 'The file exceeds the limit.'],
  ROOM_FULL: [413, 'The room has reached its limit for files or bytes.'],
  QUOTA_EXCEEDED: [413, 'The client has reached its storage limit. See used, maximum and freesAt in details.'],
  // Defined by tus.
  CHECKSUM_MISMATCH: [460, 'The bytes do not match their checksum. They were not stored.'],
  UNSUPPORTED_VERSION: [412, 'The request names no version of tus, or one that the server does not support.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'This path does not support the content type or content encoding.'],
  UPGRADE_REQUIRED: [426, 'This endpoint requires a WebSocket, version 13.'],
  RATE_LIMITED: [
    429,
    'A limit was reached. The reason in details names it: requests, misses (unknown codes; wrong PINs, room keys, passwords and admin tokens), devices (in the room), channels, messages or work (CPU time for texts). See Retry-After.',
  ],
  PIN_LOCKED: [429, 'Too many wrong PINs. See Retry-After.'],
  KEY_LOCKED: [429, 'Too many wrong room keys from this client. The correct one works. See Retry-After.'],
  INTERNAL: [500, 'An unexpected error on the server. Report it to the operator with the request id.'],
  UNAVAILABLE: [503, 'The server is overloaded, or a store does not respond. See Retry-After.'],
  STORAGE_FULL: [507, 'The server is out of storage space.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

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
