/** Compresses texts and documents for clients that accept it; see docs/adr/0018. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { type Encoding, pickEncoding } from '../request/accept-encoding.ts';
import type { Reply } from './reply.ts';

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
  const bytes = await encode(body, encoding);
  return { ...reply, headers: { ...reply.headers, 'Content-Encoding': encoding }, body: bytes, isOwnBody: true };
}

export const acceptedEncoding = ({ headers }: IncomingMessage): Encoding =>
  headers['accept-encoding'] === undefined ? 'identity' : pickEncoding(headers['accept-encoding'], () => true);

async function encode(text: string, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const zlib = process.getBuiltinModule('node:zlib');
  const isSmall = text.length <= synchronousUpTo;
  if (encoding === 'gzip') return isSmall ? zlib.gzipSync(text) : promisify(zlib.gzip)(text);
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants;
  // As fast as gzip and smaller. The window limits the memory to about 1 MiB.
  const options = { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_LGWIN]: 18 } };
  return isSmall ? zlib.brotliCompressSync(text, options) : promisify(zlib.brotliCompress)(text, options);
}
