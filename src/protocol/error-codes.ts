/** Every error code a client can meet, with the sentence that documents it. */
export const errorCodes = {
  VALIDATION_FAILED: 'A value is missing, of the wrong type or out of bounds; the message names it.',
  INVALID_JSON: 'The body is not well-formed JSON in UTF-8.',
  PIN_REQUIRED: 'The room is protected and the request carries no PIN.',
  API_KEY_REQUIRED: 'This server answers only requests with an API key.',
  INVALID_API_KEY: 'The API key is unknown or revoked.',
  PIN_INCORRECT: 'The PIN is not the one of the room.',
  ROOM_NOT_FOUND: 'No room has this code, or it was deleted.',
  FILE_NOT_FOUND: 'No file has this address, or its room is gone.',
  NOT_FOUND: 'No such path.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method; see the Allow header.',
  ROOM_EXPIRED: 'The room reached the end of its lifetime in the last 24 hours.',
  VERSION_CONFLICT: 'The content changed since the version named by If-Match.',
  CONTENT_TOO_LARGE: 'The text or the request body is over the limit.',
  FILE_TOO_LARGE: 'The file is over the limit.',
  ROOM_FULL: 'The room holds as many files, or as many bytes, as a room may.',
  QUOTA_EXCEEDED: 'The client has stored as many bytes as it may; see used, maximum and freesAt in details.',
  UNSUPPORTED_MEDIA_TYPE: 'The content type or content encoding is not one that this path takes.',
  RATE_LIMITED:
    'A limit is reached; the reason in details says which: requests, misses (unknown codes and wrong PINs), devices in the room or channels of the client. See Retry-After.',
  PIN_LOCKED: 'Too many wrong PINs; see Retry-After.',
  INTERNAL: 'Something failed on the server. The request id helps its operator to find out what.',
  UNAVAILABLE: 'A store that the server needs does not answer; see Retry-After.',
  STORAGE_FULL: 'The server has no room left.',
} as const;

export type ErrorCode = keyof typeof errorCodes;
