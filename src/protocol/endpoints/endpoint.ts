/** The description of an endpoint, and what many endpoints share. */
import type { ErrorCode } from '../error-codes.ts';
import type { Parameter } from '../parameters.ts';

export interface Success {
  status: number;
  description: string;
  /** For JSON; `mediaType` is for other types. A response without a body has neither. */
  schema?: object;
  mediaType?: string;
  /** The example of the plain text that the client can request instead of JSON. */
  plainText?: string;
  /** Names in `scripts/openapi/headers.ts`. */
  headers?: readonly string[];
  /** Replaces the example of the schema. */
  example?: unknown;
}

/** The chapters of the documentation, in order. */
export const tags = {
  Rooms: 'Create, read, change and delete rooms.',
  Text: 'The text that all devices in a room share.',
  Files: 'Upload, list, download and remove files.',
  Live: 'Receive changes in a room as they happen, and write to it.',
  Service: 'Server status and documentation.',
  Admin: 'For the operator. Only if `POPROOM_ADMIN_TOKEN` is set, and with this token.',
  Page: 'The web page.',
} as const;

export interface Endpoint {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  tag: keyof typeof tags;
  summary: string;
  /** In Markdown, with limits as `{{textSize}}`: see `LimitPhrases`. */
  description: string;
  parameters?: readonly Parameter[];
  /** A JSON body by its schema, the two forms of an upload, the bytes of a file, or bytes of a resumable upload. */
  body?: { schema: object; required: boolean; plainText?: string } | 'file' | 'raw-file' | 'bytes';
  successes: readonly Success[];
  errors: readonly ErrorCode[];
  /** Whether the request counts against the client's rate limit. */
  counted: boolean;
  /** Whether a counted request does not use up the limit, and works when it is used up. */
  free?: true;
  /** Works without a required key, and while the counters are unavailable. */
  alwaysOpen?: true;
  /** Sends no CORS headers, so that pages of other origins cannot read it. */
  sameOriginOnly?: true;
  /** Whether a request with a resume token does not count. */
  resumable?: true;
  /** Whether a ticket in the query replaces the PIN and the API key. A request with a ticket does not count. */
  acceptsTicket?: true;
  /** Whether it is part of the tus protocol. */
  isTus?: true;
  /** Whether it exists only if the admin token is set. */
  isAdmin?: true;
}

export const anyRequest = [
  'VALIDATION_FAILED',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'ADDRESS_BLOCKED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
] as const;
export const anyRoom = [
  ...anyRequest,
  'PIN_REQUIRED',
  'PIN_INCORRECT',
  'PIN_LOCKED',
  'KEY_REQUIRED',
  'KEY_INCORRECT',
  'KEY_LOCKED',
  'ROOM_NOT_FOUND',
  'ROOM_EXPIRED',
] as const;
/** Writes to encrypted rooms. */
export const anySealedWrite = ['ENCRYPTION_REQUIRED', 'BASE_VERSION_REQUIRED'] as const;
export const anyBody = ['INVALID_JSON', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

/** Of requests that accept an Idempotency-Key. An upload reserves it while the file is received. */
export const anyKeyed = ['IDEMPOTENCY_KEY_REUSED'] as const;
export const anyKeyedUpload = ['REQUEST_IN_PROGRESS', ...anyKeyed] as const;

/** Responses with a document that browsers show. */
export const pageResponses = [
  {
    status: 200,
    description: 'The page.',
    mediaType: 'text/html',
    headers: ['PageETag'],
    example: '<!doctype html>…',
  },
  { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
] as const;
