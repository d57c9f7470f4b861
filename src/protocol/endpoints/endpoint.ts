/** The description of an endpoint, and the errors, responses and parameters that several endpoints share. */
import type { ErrorCode } from '../error-codes.ts';
import { auth, pin } from '../fields.ts';
import type { RoomOperation } from '../link-rights.ts';
import { confirmation } from '../schemas.ts';
import { envelopeSize, maxDropEnvelope, maxPayloadBytes } from '../sealed.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  required?: true;
  /** The required format, if other values are rejected. */
  pattern?: string;
  /** The accepted values, if others are rejected. */
  enum?: readonly string[];
  example: string;
}

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
  Webhooks: 'Let the server send the changes in a room to a URL.',
  Service: 'Server status and documentation.',
  Admin: 'For the operator. These endpoints exist only if `POPROOM_ADMIN_TOKEN` is set, and require this token.',
  Page: 'The web page.',
} as const;

export interface Endpoint {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  tag: keyof typeof tags;
  /** The right that a link needs; required with `:roomId`. */
  operation?: RoomOperation;
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
  /** Whether an upload with a ticket does not count. */
  acceptsUploadTicket?: true;
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
  'READ_ONLY',
  'DROP_ONLY',
  'ROOM_NOT_FOUND',
  'ROOM_EXPIRED',
] as const;
export const anyUpload = [
  'FILE_TOO_LARGE',
  'ROOM_FULL',
  'ENCRYPTION_REQUIRED',
  'QUOTA_EXCEEDED',
  'UNSUPPORTED_MEDIA_TYPE',
  'STORAGE_FULL',
] as const;
export const anyBody = ['INVALID_JSON', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

/** Of requests that accept an Idempotency-Key. An upload reserves it while the file is received. */
export const anyKeyed = ['IDEMPOTENCY_KEY_REUSED'] as const;
export const anyKeyedUpload = ['REQUEST_IN_PROGRESS', ...anyKeyed] as const;

/** For the endpoints of one topic: adds what they share to what each of them begins with. */
export const endpointsWith =
  <const S extends Partial<Endpoint>>(shared: S) =>
  <const M extends Endpoint['method'], const P extends string>(
    method: M,
    path: P,
    summary: string,
    operation?: RoomOperation,
  ) => ({ ...(operation && { operation }), ...shared, method, path, summary });

/** A response in JSON. */
export const responds = <const T extends Partial<Success>>(description: string, schema: object, more?: T) => ({
  status: 200,
  description,
  schema,
  ...more,
});

/** A response with only a sentence. */
export const confirms = (description: string, message = description) =>
  ({ status: 200, description, schema: confirmation, example: { success: true, message } }) as const;

/** Responses with a document that browsers show. */
export const pageResponses = [
  { status: 200, description: 'The page.', mediaType: 'text/html', headers: ['PageETag'], example: '<!doctype html>…' },
  { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
] as const;

/** Only parameters in the path are always required. */
const inPlace =
  (place: Parameter['in']) =>
  (name: string, description: string, example: string, pattern?: string): Parameter => ({
    name,
    in: place,
    description,
    example,
    ...(place === 'path' && { required: true }),
    ...(pattern && { pattern }),
  });

export const inPath = inPlace('path');
export const inQuery = inPlace('query');
export const inHeader = inPlace('header');

export const roomId = inPath(
  'roomId',
  'The room code or the id of a link, in upper or lower case, with or without dashes.',
  '7KQ2MX',
);
export const fileId = inPath('fileId', 'The id of the file.', '9f86d081884c7d659a2feaa0c55ad015', '^[0-9a-f]{32}$');
export const linkId = inPath('linkId', 'The id of the link.', '4VNR8M2KQX7D5HWT9CJZ3BPA');
export const checkpointVersion = inPath('version', 'A version from the history.', '7', '^[0-9]{1,15}$');
const pinHeader = inHeader(
  'X-Room-Pin',
  'The PIN of the room. Recommended: unlike the query, it stays out of access logs.',
  '0427',
  pin.pattern,
);
const pinQuery = inQuery('pin', 'The PIN of the room, for clients that cannot set headers.', '0427', pin.pattern);
const authHeader = inHeader(
  'X-Room-Auth',
  'For an encrypted room: the key `auth`, 32 bytes in base64url. Never send it in the query.',
  auth.examples[0],
  auth.pattern,
);
const device = inHeader(
  'X-Device-Id',
  'The id of the device: 1 to 64 letters, digits, dashes or underscores. The device counts as present for 60 seconds.',
  'my-phone',
  '^[A-Za-z0-9_-]{1,64}$',
);
export const idempotencyKey = inHeader(
  'Idempotency-Key',
  'A random value of 16 to 128 characters, which makes retries safe: a request with the same key runs only once within ' +
    '24 hours, and later ones get the first response.',
  '5f0c2a8e-6d1b-4c8e-9a37-2f6f1e0b7c55',
  '^"?[!#-\\[\\]-~]{16,128}"?$',
);
export const createPassword = inHeader(
  'X-Create-Password',
  'On a server that requires a password for creating rooms: the password, or a token from `POST /api/create-token`.',
  'correct horse battery',
);
export const webhookId = inPath(
  'webhookId',
  'The id of the webhook.',
  '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10',
  '^[0-9a-f]{32}$',
);
export const roomAccess = [roomId, pinHeader, pinQuery, authHeader, device] as const;

/** By their names in the OpenAPI document. */
export const sharedParameters: Record<string, Parameter> = {
  roomId,
  fileId,
  pinHeader,
  pinQuery,
  authHeader,
  deviceId: device,
};

export const listLimit = inQuery(
  'limit',
  'The maximum number of entries, from the start of the list. Default: all.',
  '10',
  '^[1-9][0-9]{0,3}$',
);

export const details = inQuery(
  'details',
  '`true` also returns the version and the size of the text, and the list of files.',
  'true',
  '^(true|false)$',
);

export const claim = inPath(
  'claim',
  'The claim of a one-time file.',
  '4b2ae1f4d7c09a3361f08c5e92d7b6a0',
  '^[0-9a-f]{32}$',
);
export const uploadId: Parameter = { ...fileId, description: 'The id of the upload, from its `Location`.' };
export const tusResumable: Parameter = {
  name: 'Tus-Resumable',
  in: 'header',
  required: true,
  description: 'The version of tus.',
  enum: ['1.0.0'],
  example: '1.0.0',
};
const byteHeader = (name: string, description: string, example: string): Parameter => ({
  ...inHeader(name, description, example, '^[0-9]{1,15}$'),
  required: true,
});
export const uploadLength = byteHeader('Upload-Length', 'The size of the file in bytes.', '104857600');
export const uploadOffset = byteHeader('Upload-Offset', 'The number of bytes that the server has.', '5242880');
export const uploadMetadata = inHeader(
  'Upload-Metadata',
  'Keys with base64 values, separated by commas: `filename`, `filetype`, `folder` and, for a one-time file, ' +
    '`once`. `name`, `type` and `relativePath` are understood too. In an encrypted room: `meta`, the sealed metadata.',
  'filename dmlkZW8ubXA0,filetype dmlkZW8vbXA0',
);
export const fileMeta = inHeader(
  'X-File-Meta',
  `For an encrypted room: the sealed metadata of the file, at most ${envelopeSize('file', maxPayloadBytes.file)} characters, or with a drop link ${maxDropEnvelope}.`,
  'pop1.QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX',
  '^pop1(-drop)?\\.[A-Za-z0-9_-]+$',
);
export const uploadTicketHeader = 'X-Upload-Ticket';
export const uploadTicket = inHeader(
  uploadTicketHeader,
  'A ticket for several uploads, from `POST /api/rooms/{roomId}/tickets`. The upload then does not count as a request.',
  'thh5rk.14.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0',
);
export const uploadChecksum = inHeader(
  'Upload-Checksum',
  'The algorithm (`sha1`, `sha256` or `md5`) and the base64 checksum of the bytes in this request.',
  'sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=',
);
export const selectedFiles = inQuery(
  'files',
  'The ids of the files to include, separated by commas; at most 200. Default: all files.',
  '9f86d081884c7d659a2feaa0c55ad015',
  '^[0-9a-f]{32}(,[0-9a-f]{32}){0,199}$',
);
export const ticketQuery = inQuery(
  'ticket',
  'A ticket for this room, instead of the PIN. The request then does not count.',
  'tghq3x.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0',
);
