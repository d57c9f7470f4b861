/** The attack on uploads of encrypted files: a server that gets two files encrypted with the same key and nonces. */
import type { IncomingHttpHeaders } from 'node:http';
import type { MaliciousServer, ProxiedResponse } from './malicious-server.ts';

/** Encrypted bytes that a client has sent, and their position in the encrypted file. */
interface SentBytes {
  at: number;
  bytes: Buffer;
}

export interface KeystreamAttack {
  /** The sealed metadata of all uploads, oldest first. */
  readonly metas: readonly string[];
  readonly sent: readonly SentBytes[];
  /** From now on, the connection is lost after the first part of a file. */
  interrupt(): void;
  /** From now on, the server says that it has no bytes of any upload, and that its metadata is this one. It accepts all. */
  pretend(meta: string): void;
  /** From now on, the server answers truthfully. */
  end(): void;
  /** Whether what was sent reveals the second file to someone who knows the first one. */
  reveals(known: Uint8Array, secret: Uint8Array): boolean;
}

export function startKeystreamAttack(proxy: MaliciousServer): KeystreamAttack {
  const metas: string[] = [];
  const sent: SentBytes[] = [];
  let length = 0;
  let respond: (method: string, headers: IncomingHttpHeaders, body: Buffer) => ProxiedResponse | undefined;
  const answerTruthfully = () => {
    respond = () => undefined;
  };
  answerTruthfully();
  proxy.answer = ({ method, path, headers, body }) => {
    const [, sealed = ''] = /(?:^|,)\s*meta ([A-Za-z0-9+/=]+)/.exec(String(headers['upload-metadata'])) ?? [];
    const meta = headers['x-file-meta'] ?? Buffer.from(sealed, 'base64').toString();
    if (method === 'POST' && meta) metas.push(String(meta));
    length = Number(headers['upload-length'] ?? length);
    const isWhole = method === 'POST' && /\/upload(\?|$)/.test(path);
    if (isWhole || method === 'PATCH') sent.push({ at: Number(headers['upload-offset'] ?? 0), bytes: body });
    return /\/uploads\/[0-9a-f]{32}$/.test(path) ? respond(method, headers, body) : undefined;
  };

  return {
    metas,
    sent,
    interrupt() {
      respond = (method, headers) => {
        if (method === 'PATCH' && headers['upload-offset'] !== '0') throw new Error('lost');
        return undefined;
      };
    },
    pretend(meta) {
      const position = (offset: number) => ({ 'tus-resumable': '1.0.0', 'upload-offset': String(offset) });
      respond = (method, headers, body) => {
        const nothing = Buffer.alloc(0);
        if (method === 'PATCH') {
          const offset = Number(headers['upload-offset']) + body.length;
          const isComplete = offset === length && { 'x-file-url': `/files/${'0'.repeat(32)}/encrypted` };
          return { status: 204, headers: { ...position(offset), ...isComplete }, body: nothing };
        }
        if (method !== 'HEAD') return undefined;
        const metadata = { 'upload-metadata': `meta ${Buffer.from(meta).toString('base64')}` };
        return { status: 200, headers: { ...position(0), ...metadata }, body: nothing };
      };
    },
    end: answerTruthfully,
    reveals: (known, secret) =>
      sent.some((one, index) => sent.slice(0, index).some((other) => isRevealed(one, other, known, secret))),
  };
}

const [headerBytes, chunkBytes, sealedChunkBytes] = [8, 64 * 1024, 64 * 1024 + 16];
const sampleBytes = 32;

/** With the same key and nonce, the difference of the encrypted bytes is that of the files. */
function isRevealed(one: SentBytes, other: SentBytes, known: Uint8Array, secret: Uint8Array): boolean {
  const from = Math.max(one.at, other.at, headerBytes);
  const to = Math.min(one.at + one.bytes.length, other.at + other.bytes.length);
  const first = Math.floor((from - headerBytes) / sealedChunkBytes);
  for (let chunk = first; headerBytes + chunk * sealedChunkBytes < to; chunk += 1) {
    const start = Math.max(headerBytes + chunk * sealedChunkBytes, from);
    const plain = chunk * chunkBytes + start - headerBytes - chunk * sealedChunkBytes;
    if (start + sampleBytes > to || plain + sampleBytes > secret.length) continue;
    const difference = xor(one.bytes.subarray(start - one.at), other.bytes.subarray(start - other.at));
    if (difference.some((byte) => byte !== 0) && difference.equals(xor(known.subarray(plain), secret.subarray(plain))))
      return true;
  }
  return false;
}

const xor = (one: Uint8Array, other: Uint8Array): Buffer =>
  Buffer.from(one.subarray(0, sampleBytes)).map((byte, index) => byte ^ (other[index] ?? 0)) as Buffer;
