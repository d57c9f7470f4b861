/**
 * Replies: those of handlers, those for errors, and the headers that every endpoint has. Negotiates the encoding of a
 * reply (see docs/adr/0018), and whether the client has its version already.
 */

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { invalidField, PoproomError } from '../../core/errors.ts';
import { type ErrorCode, errorCodes } from '../../protocol/error-codes.ts';
import type { Confirmation, ErrorBody } from '../../protocol/types.ts';

/** Sent with every response. */
export const fixedHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/** Headers as they are sent, each with its line break. */
export const linesOf = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A stream of known length needs a Content-Length in the headers. */
  body?: string | Uint8Array | Readable;
  /** Whether these bytes are in memory only for this reply. Others are shared between clients. */
  isOwnBody?: true;
  /** How long the client asked to wait. It is not part of the duration of the request. */
  waitedMs?: number;
}

export const json = (status: number, value: unknown, headers?: Record<string, string>): Reply =>
  jsonText(status, JSON.stringify(value), headers);

export const confirmation = (message: string, status = 200): Reply =>
  json(status, { success: true, message } satisfies Confirmation);

/** A reply with serialized JSON. */
export function jsonText(status: number, body: string, headers?: Record<string, string>): Reply {
  const common = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers: headers ? Object.assign(common, headers) : common, body };
}

/** The status of each error. */
export const statusOf = (code: ErrorCode): number => errorCodes[code][0];

/** HTTP requires every 401 to name an authentication scheme. */
const challengeOf: Partial<Record<ErrorCode, string>> = {
  API_KEY_REQUIRED: 'Bearer',
  INVALID_API_KEY: 'Bearer error="invalid_token"',
  INVALID_ADMIN_TOKEN: 'Bearer realm="admin"',
  PASSWORD_REQUIRED: 'CreatePassword',
  PIN_REQUIRED: 'RoomPin',
  KEY_REQUIRED: 'RoomKey',
};

/** HTTP requires them with a 426, and WebSocket names the version. */
const requiredUpgrade = { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Sec-WebSocket-Version': '13' };

export function errorReply(error: unknown, requestId: string): Reply {
  const known = error instanceof PoproomError ? error : internal(error);
  const retryAfter = known.retryAfter ?? (known.code === 'UNAVAILABLE' ? 1 : undefined);
  const challenge = challengeOf[known.code];
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (known.code === 'UPGRADE_REQUIRED') Object.assign(headers, requiredUpgrade);
  if (challenge) headers['WWW-Authenticate'] = challenge;
  if (Array.isArray(known.details?.allow)) headers.Allow = known.details.allow.join(', ');
  return json(statusOf(known.code), errorBody(known, requestId), headers);
}

export function errorBody({ code, message, details }: PoproomError, requestId: string): ErrorBody {
  return { success: false, error: { code, message, ...(details && { details }) }, requestId };
}

/** Details of unexpected errors go to the log only. */
const internal = (cause: unknown): PoproomError =>
  new PoproomError('INTERNAL', 'Something went wrong on the server. The error has been logged.', { cause });

const exposed =
  'ETag, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ' +
  'X-Request-Id, Content-Disposition, Content-Range, Allow, Location, Idempotency-Replayed';

/** Pages of any origin may use the API and the files. There are no cookies, so no credentials are needed. */
export const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed };

/** Only for uploads in several requests: the longer list would be sent with every response. */
export const tusCorsHeaders = {
  ...corsHeaders,
  'Access-Control-Expose-Headers':
    `${exposed}, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ` +
    'Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-File-Url',
};

export function preflight(allow: string[], isSameOriginOnly: boolean): Reply {
  if (isSameOriginOnly) return { status: 204, headers: { Allow: allow.join(', '), 'Cache-Control': 'no-store' } };
  return {
    status: 204,
    headers: {
      Allow: allow.join(', '),
      'Access-Control-Allow-Methods': allow.join(', '),
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range, ' +
        'traceparent, tracestate, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, Upload-Metadata, ' +
        'Upload-Offset, X-API-Key, X-Create-Password, X-Device-Id, X-File-Meta, X-File-Name, X-HTTP-Method-Override, X-Request-Id, ' +
        'X-Requested-With, X-Resume-Token, X-Room-Auth, X-Room-Pin, X-Upload-Ticket',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
    },
  };
}

export const tusVersion = '1.0.0';

/** The length of each checksum in bytes. */
export const checksumAlgorithms: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, md5: 16 };

/** On every response to a tus request, errors included. */
export const tusHeaders = { 'Tus-Resumable': tusVersion, 'Tus-Version': tusVersion };

/** On a response to OPTIONS. */
export const tusCapabilities = (maxBytes: number): Record<string, string> => ({
  'Tus-Extension': 'creation,creation-with-upload,termination,expiration,checksum',
  'Tus-Checksum-Algorithm': Object.keys(checksumAlgorithms).join(','),
  'Tus-Max-Size': String(maxBytes),
});

/** Smallest first. */
const encodings = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof encodings)[number];

/** In smaller bodies, compression saves less than a packet. */
const compressedFrom = 1024;
/** Compressing this much takes about 0.1 ms, less than handing it to another thread. */
const synchronousUpTo = 4096;

/** On every response of an endpoint that compresses some of them. */
export const variesByEncoding = { Vary: 'Accept-Encoding' };

/** Whether `compress` may change a body of this length. Cheaper than the call. */
export const isCompressible = (length: number): boolean => length >= compressedFrom;

/** The reply in the encoding that the client prefers. Use it only for bodies without secrets. */
export async function compress(raw: IncomingMessage, reply: Reply): Promise<Reply> {
  const { body } = reply;
  if (typeof body !== 'string' || !isCompressible(body.length)) return reply;
  const encoding = acceptedEncoding(raw);
  if (encoding === 'identity') return reply;
  const bytes = await encodeText(body, encoding);
  return { ...reply, headers: { ...reply.headers, 'Content-Encoding': encoding }, body: bytes, isOwnBody: true };
}

export const acceptedEncoding = ({ headers }: IncomingMessage): Encoding =>
  headers['accept-encoding'] === undefined ? 'identity' : pickEncoding(headers['accept-encoding'], () => true);

async function encodeText(text: string, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const zlib = process.getBuiltinModule('node:zlib');
  const isSmall = text.length <= synchronousUpTo;
  if (encoding === 'gzip') return isSmall ? zlib.gzipSync(text) : promisify(zlib.gzip)(text);
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants;
  // As fast as gzip and smaller. The window limits the memory to about 1 MiB.
  const options = { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_LGWIN]: 18 } };
  return isSmall ? zlib.brotliCompressSync(text, options) : promisify(zlib.brotliCompress)(text, options);
}

/** The available encoding with the highest weight, the smaller of two equal ones, or `identity` if none is accepted. */
export function pickEncoding(accepted: string | undefined, available: (encoding: Encoding) => boolean): Encoding {
  const weights = parseWeights(accepted ?? '');
  const weight = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? defaultWeight(encoding);
  const wanted = encodings.filter((encoding) => available(encoding) && weight(encoding) > 0);
  return wanted.toSorted((a, b) => weight(b) - weight(a))[0] ?? 'identity';
}

/** `identity` is acceptable unless excluded, but only as the last choice. */
const defaultWeight = (encoding: Encoding) => (encoding === 'identity' ? Number.MIN_VALUE : 0);

function parseWeights(accepted: string): Map<string, number> {
  const parts = accepted.toLowerCase().split(',');
  return new Map(parts.map((part) => [part.split(';')[0]?.trim() ?? '', weightOf(part)]));
}

function weightOf(part: string): number {
  const [, weight = '1'] = /;\s*q\s*=\s*([\d.]+)/.exec(part) ?? [];
  return Number(weight) || 0;
}

/** A file of the page with its compressed forms. */
export interface PageFile {
  /** Changes when the file or its headers do; the same for all its encodings. */
  hash: string;
  bytes: Map<Encoding, Uint8Array>;
}

/**
 * For files that the server fills in, so that the build cannot compress them. Compresses on another thread, at a
 * quality that takes a fraction of the time of the best one.
 */
export async function compressedFile(text: string, headers: Record<string, string>): Promise<PageFile> {
  const { brotliCompress, constants, gzip } = process.getBuiltinModule('node:zlib');
  const identity = Buffer.from(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(identity),
  ]);
  const bytes = new Map<Encoding, Uint8Array>([
    ['identity', identity],
    ['br', br],
    ['gzip', gz],
  ]);
  return { hash: hashOf(identity, headers), bytes };
}

export function hashOf(bytes: Uint8Array, headers: Record<string, string> = {}): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(bytes).update(JSON.stringify(headers)).digest('base64url').slice(0, 22);
}

/** The entity tag of a text. */
export const versionTag = (version: number) => `"${version}"`;

/** The versions in an If-Match (NaN for a weak tag); undefined if there is no If-Match or it is `*`. */
export function parseIfMatch(value: string | undefined): number[] | undefined {
  if (value === undefined || value.trim() === '*') return undefined;
  return parseTags(value).map((tag) => (/^"(0|[1-9]\d{0,14})"$/.test(tag) ? Number(tag.slice(1, -1)) : Number.NaN));
}

/** Whether an If-None-Match contains this tag. A malformed one contains none. */
export function isNamedBy(value: string | undefined, tag: string): boolean {
  if (value === undefined) return false;
  if (value.trim() === '*') return true;
  return value.split(',').some((part) => part.trim().replace(/^W\//, '') === tag);
}

/** Whether an If-Match contains this tag. A weak tag does not match. */
export const isNamedExactly = (value: string, tag: string): boolean =>
  value.trim() === '*' || parseTags(value).includes(tag);

/** Tags may contain commas, so the list cannot be split at commas. */
const listOfTags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

function parseTags(value: string): string[] {
  if (listOfTags.test(value.trim())) return value.match(/(?:W\/)?"[^"]*"/g) ?? [];
  throw invalidField('If-Match', 'If-Match must be a version in quotes, for example "7".');
}
