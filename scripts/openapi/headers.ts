/** The response headers that the OpenAPI document describes. */
import type { Header, Ref } from './document.ts';

export const headers = {
  'RateLimit-Policy': {
    description:
      'The tier, its maximum number of requests (`q`) and the window in seconds (`w`). Absent if the limit is disabled.',
    schema: { type: 'string' },
    example: '"free";q=100;w=3600',
  },
  RateLimit: {
    description: 'The tier, the remaining requests (`r`) and the seconds until the limit resets (`t`).',
    schema: { type: 'string' },
    example: '"free";r=87;t=1243',
  },
  'X-RateLimit-Limit': {
    description: 'The requests per hour of the tier.',
    schema: { type: 'integer' },
    example: 100,
  },
  'X-RateLimit-Remaining': {
    description: 'The remaining requests.',
    schema: { type: 'integer' },
    example: 87,
  },
  'X-RateLimit-Reset': {
    description: 'The time when the limit resets, in seconds since 1970.',
    schema: { type: 'integer' },
    example: 1_794_736_843,
  },
  'X-Request-Id': {
    description: 'The id of this request in the server log.',
    schema: { type: 'string' },
    example: 'pZ3kVw8q-2s',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  'WWW-Authenticate': {
    description: 'The missing credential: `Bearer` for an API key, `RoomPin` for a PIN.',
    schema: { type: 'string' },
    example: 'RoomPin',
  },
  Allow: {
    description: 'The methods that the path supports.',
    schema: { type: 'string' },
    example: 'GET, DELETE, HEAD, OPTIONS',
  },
  ETag: {
    description: 'The version of the text, in quotes.',
    schema: { type: 'string' },
    example: '"7"',
  },
  FileETag: {
    description: 'The version of the file, in quotes. It never changes.',
    schema: { type: 'string' },
    example: '"9f86d081"',
  },
  'Last-Modified': {
    description: 'When the upload was complete.',
    schema: { type: 'string' },
    example: 'Sun, 15 Nov 2026 09:30:00 GMT',
  },
  PageETag: {
    description: 'The version of the page or asset in the selected encoding, in quotes.',
    schema: { type: 'string' },
    example: '"n4bQgYhMfWWaL-qgxVrQFa-br"',
  },
  'Content-Disposition': {
    description: 'Whether the browser opens or saves the file, and its name.',
    schema: { type: 'string' },
    example: 'inline; filename="photo.jpg"',
  },
  ZipDisposition: {
    description: 'The name for the archive.',
    schema: { type: 'string' },
    example: 'attachment; filename="poproom-7KQ2MX.zip"',
  },
  'Content-Range': {
    description: 'The range of these bytes, and the total size.',
    schema: { type: 'string' },
    example: 'bytes 0-1023/34567',
  },
  UnmetRange: {
    description: 'The total size.',
    schema: { type: 'string' },
    example: 'bytes */34567',
  },
  UploadLocation: {
    description: 'The URL of the upload, which contains its id.',
    schema: { type: 'string', format: 'uri' },
    example: 'http://localhost:8080/api/rooms/7KQ2MX/uploads/9f86d081884c7d659a2feaa0c55ad015',
  },
  RoomLocation: {
    description: 'The URL of the room in the API. Absent if the Host header is malformed.',
    schema: { type: 'string', format: 'uri' },
    example: 'http://localhost:8080/api/rooms/7KQ2MX',
  },
  FileLocation: {
    description: 'The URL of the file, the same as `fileUrl`.',
    schema: { type: 'string', format: 'uri' },
    example: 'http://localhost:8080/files/9f86d081884c7d659a2feaa0c55ad015/photo.jpg',
  },
  'Upload-Offset': {
    description: 'The number of bytes that the server has.',
    schema: { type: 'integer' },
    example: 5_242_880,
  },
  'Upload-Length': { description: 'The size of the file in bytes.', schema: { type: 'integer' }, example: 104_857_600 },
  'Upload-Metadata': {
    description: 'The cleaned name, type and folder of the file, with base64 values.',
    schema: { type: 'string' },
    example: 'filename dmlkZW8ubXA0,filetype dmlkZW8vbXA0',
  },
  'Upload-Expires': {
    description: 'When the upload ends if it is still unfinished.',
    schema: { type: 'string' },
    example: 'Mon, 16 Nov 2026 09:30:00 GMT',
  },
  'Tus-Resumable': { description: 'The version of tus.', schema: { type: 'string' }, example: '1.0.0' },
} as const satisfies Record<string, Header>;

/** Headers with several meanings have one description per meaning. */
const wireNames: Record<string, string> = {
  FileETag: 'ETag',
  PageETag: 'ETag',
  UnmetRange: 'Content-Range',
  ZipDisposition: 'Content-Disposition',
  UploadLocation: 'Location',
  RoomLocation: 'Location',
  FileLocation: 'Location',
};

type HeaderName = keyof typeof headers;

const onEveryResponse: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** References to the named headers and to those of every response. */
export function headersOf(names: readonly string[]): Record<string, Ref> {
  return Object.fromEntries([...names, ...onEveryResponse].map((name) => [wireNames[name] ?? name, referTo(name)]));
}

function referTo(name: string): Ref {
  if (!(name in headers)) throw new Error(`An endpoint uses the header ${name}, which has no description.`);
  return { $ref: `#/components/headers/${name}` };
}
