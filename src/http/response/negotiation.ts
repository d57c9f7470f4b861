/** Negotiates with clients: the encoding of a response (see docs/adr/0018), and whether they have its version already. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { PoproomError } from '../../core/errors.ts';
import type { Reply } from './reply.ts';

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
export function isNamedExactly(value: string, tag: string): boolean {
  return value.trim() === '*' || parseTags(value).includes(tag);
}

/** Tags may contain commas, so the list cannot be split at commas. */
const listOfTags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

function parseTags(value: string): string[] {
  if (listOfTags.test(value.trim())) return value.match(/(?:W\/)?"[^"]*"/g) ?? [];
  throw new PoproomError('VALIDATION_FAILED', 'If-Match must be a version in quotes, for example "7".', {
    details: { field: 'If-Match' },
  });
}
