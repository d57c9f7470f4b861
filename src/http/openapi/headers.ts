/** The response headers that the OpenAPI document describes. */
import type { Header, Ref } from './document.ts';

export const headers = {
  'RateLimit-Policy': {
    description: 'The tier, its requests (`q`) and the seconds (`w`) they are for. Absent where the limit is off.',
    schema: { type: 'string' },
    example: '"free";q=100;w=3600',
  },
  RateLimit: {
    description: 'The tier, the requests that remain (`r`) and the seconds until they are full again (`t`).',
    schema: { type: 'string' },
    example: '"free";r=87;t=1243',
  },
  'X-RateLimit-Limit': {
    description: 'The requests an hour of the tier.',
    schema: { type: 'integer' },
    example: 100,
  },
  'X-RateLimit-Remaining': {
    description: 'How many of them remain.',
    schema: { type: 'integer' },
    example: 87,
  },
  'X-RateLimit-Reset': {
    description: 'When they are full again, in seconds since 1970.',
    schema: { type: 'integer' },
    example: 1_794_736_843,
  },
  'X-Request-Id': {
    description: 'Names this request in the server log.',
    schema: { type: 'string' },
    example: 'pZ3kVw8q-2s',
  },
  'Retry-After': {
    description: 'Seconds until it is worth trying again.',
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  'WWW-Authenticate': {
    description: 'What would help: `Bearer` for an API key, `RoomPin` for a PIN.',
    schema: { type: 'string' },
    example: 'RoomPin',
  },
  Allow: {
    description: 'The methods that the path takes.',
    schema: { type: 'string' },
    example: 'GET, DELETE, HEAD, OPTIONS',
  },
  ETag: {
    description: 'The version of the text, in quotes.',
    schema: { type: 'string' },
    example: '"7"',
  },
  FileETag: {
    description: 'Names the bytes of the file, in quotes. They never change.',
    schema: { type: 'string' },
    example: '"9f86d081"',
  },
  PageETag: {
    description: 'The version of the page or of its file, in the encoding that was chosen, in quotes.',
    schema: { type: 'string' },
    example: '"n4bQgYhMfWWaL-qgxVrQFa-br"',
  },
  'Content-Disposition': {
    description: 'Whether the file opens in the browser or is saved, and under which name.',
    schema: { type: 'string' },
    example: 'inline; filename="photo.jpg"',
  },
  'Content-Range': {
    description: 'Which bytes these are, and how many there are in all.',
    schema: { type: 'string' },
    example: 'bytes 0-1023/34567',
  },
  UnmetRange: {
    description: 'How many bytes there are.',
    schema: { type: 'string' },
    example: 'bytes */34567',
  },
} as const satisfies Record<string, Header>;

/** Where one header says different things, its descriptions have names of their own. */
const wireNames: Record<string, string> = { FileETag: 'ETag', PageETag: 'ETag', UnmetRange: 'Content-Range' };

type HeaderName = keyof typeof headers;

const onEveryResponse: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** References to the named headers and to those that every response carries. */
export function headersOf(names: readonly string[]): Record<string, Ref> {
  return Object.fromEntries([...names, ...onEveryResponse].map((name) => [wireNames[name] ?? name, referTo(name)]));
}

function referTo(name: string): Ref {
  if (!(name in headers)) throw new Error(`The header ${name} is used by an endpoint but not described.`);
  return { $ref: `#/components/headers/${name}` };
}
