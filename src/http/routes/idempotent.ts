/** Requests that run once if they have an Idempotency-Key. */
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PoproomError } from '../../core/errors.ts';
import type { FileSpace } from '../../core/files/space.ts';
import type { RequestSteps } from '../../core/idempotency.ts';
import type { EndpointName } from '../../protocol/endpoints.ts';
import { parseRoomCode } from '../../protocol/room-code.ts';
import { header, type Request } from '../request/request.ts';
import type { Service } from './handler.ts';

export interface Outcome<T> {
  result: T;
  /** For the response. */
  headers: Record<string, string>;
}

/** Performs a request once by its key, or as often as it is sent if it has none. */
export async function runOnce<T extends object>(
  { idempotency }: Pick<Service, 'idempotency'>,
  request: Request,
  endpoint: EndpointName,
  steps: RequestSteps<T>,
): Promise<Outcome<T>> {
  const key = keyIn(request);
  if (key === undefined) return { result: await steps.perform(), headers: {} };
  const { roomId = '' } = request.params;
  const scope = `${endpoint} ${parseRoomCode(roomId) ?? roomId}`;
  const { result, isReplayed } = await idempotency.run({ key, client: request.client, scope }, steps);
  return { result, headers: isReplayed ? { 'Idempotency-Replayed': 'true' } : {} };
}

/** A quoted string, as the draft of the IETF defines it, or without quotes. Clients of one address share keys. */
function keyIn({ raw }: Request): string | undefined {
  const text = header(raw, 'idempotency-key');
  if (text === undefined) return undefined;
  const [, key] = /^"?([\x21\x23-\x5b\x5d-\x7e]{16,128})"?$/.exec(text.trim()) ?? [];
  if (key !== undefined) return key;
  throw new PoproomError(
    'VALIDATION_FAILED',
    'Idempotency-Key must have 16 to 128 visible ASCII characters, such as a random UUID.',
    { details: { field: 'Idempotency-Key' } },
  );
}

/** A hash of the values of a request. */
export function fingerprintOf(...values: readonly (string | undefined)[]): string {
  const hash = createHash('sha256');
  for (const value of values) hash.update(value === undefined ? '-;' : `${value.length};`).update(value ?? '');
  return hash.digest('base64url');
}

/** Passes bytes on, and hashes them. */
export function hashing(): { stream: Transform; digest: () => string } {
  const hash = createHash('sha256');
  const transform = (chunk: Buffer, _encoding: unknown, done: (error: null, chunk: Buffer) => void) => {
    hash.update(chunk);
    done(null, chunk);
  };
  return { stream: new Transform({ transform }), digest: () => hash.digest('base64url') };
}

/** The hash of a body that is not stored. */
export async function digestOf(
  bytes: AsyncIterable<Buffer>,
  { isTooLarge, tooLarge }: Pick<FileSpace, 'isTooLarge' | 'tooLarge'>,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  let size = 0;
  await pipeline(
    bytes,
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (isTooLarge(size)) throw tooLarge();
        hash.update(chunk);
      }
    },
    { signal },
  ).catch((error) => {
    throw signal.aborted ? signal.reason : error;
  });
  return hash.digest('base64url');
}
