/** The description of an endpoint, and the errors, responses and parameters that several endpoints share. */
import type { ErrorCode } from '../error-codes.ts';
import { auth, pin } from '../fields.ts';
import type { RoomOperation } from '../link-rights.ts';
import { confirmation, pinOnlyRequest } from '../schemas.ts';

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
  parameters: readonly Parameter[];
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
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'ADDRESS_BLOCKED',
  'RATE_LIMITED',
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
const anyBody = ['INVALID_JSON', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

type Shared = Pick<Endpoint, 'tag'> & Partial<Endpoint>;
type Details = Pick<Endpoint, 'description'> & Partial<Endpoint>;

/** For the endpoints of one topic: adds what they share. Parameters and errors are added to the shared ones. */
export const endpointsWith =
  (shared: Shared) =>
  (method: Endpoint['method'], path: string, summary: string, details: Details): Endpoint => ({
    ...{ counted: true, successes: [], ...shared, ...details, method, path, summary },
    parameters: [...(shared.parameters ?? []), ...(details.parameters ?? [])],
    errors: ['VALIDATION_FAILED', 'INTERNAL', ...errorsOf(shared), ...errorsOf(details)],
  });

const errorsOf = ({ body, errors = [] }: Partial<Endpoint>) =>
  typeof body === 'object' ? [...anyBody, ...errors] : errors;

/** The same for requests to a room. `path` follows that of the room. A change without a body may have one with the PIN. */
export const roomEndpointsWith = (shared: Shared) => {
  const endpoint = endpointsWith({ ...shared, parameters: roomAccess, errors: [...anyRoom, ...(shared.errors ?? [])] });
  return (operation: RoomOperation, method: Endpoint['method'], path: string, summary: string, details: Details) => {
    const body = method !== 'GET' && { body: { schema: pinOnlyRequest, required: false } };
    return endpoint(method, `/api/rooms/:roomId${path}`, summary, { operation, ...body, ...details });
  };
};

/** A response in JSON. */
export const responds = (description: string, schema: object, more?: Partial<Success>): Success => ({
  ...{ status: 200, description, schema },
  ...more,
});

/** A response with only a sentence. */
export const confirms = (description: string, message = description): Success =>
  responds(description, confirmation, { example: { success: true, message } });

/** Responses with a file of the page, which browsers keep. */
export const pageFile = (description: string, mediaType: string, example?: string): readonly Success[] => [
  { status: 200, description, mediaType, headers: ['PageETag'], example },
  { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
];

export const pages = endpointsWith({
  tag: 'Page',
  errors: ['ADDRESS_BLOCKED', 'NOT_FOUND'],
  counted: false,
  sameOriginOnly: true,
  successes: pageFile('The page.', 'text/html', '<!doctype html>…'),
});

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
const deviceId = inHeader(
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
export const roomAccess = [roomId, pinHeader, pinQuery, authHeader, deviceId] as const;

/** By their names in the OpenAPI document. */
export const sharedParameters: Record<string, Parameter> = {
  roomId,
  fileId,
  pinHeader,
  pinQuery,
  authHeader,
  deviceId,
};

export const listLimit = inQuery(
  'limit',
  'The maximum number of entries, from the start of the list. Default: all.',
  '10',
  '^[1-9][0-9]{0,3}$',
);

export const uploadTicketHeader = 'X-Upload-Ticket';
export const uploadTicket = inHeader(
  uploadTicketHeader,
  'A ticket for several uploads, from `POST /api/rooms/{roomId}/tickets`. The upload then does not count as a request.',
  'thh5rk.14.Zm9vYmFyYmF6cXV4.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0',
);
