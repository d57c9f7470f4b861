/** Requests that run once if they have an Idempotency-Key. */
import { createHash } from 'node:crypto';
import { finished, type Readable, Transform } from 'node:stream';
import { invalidField } from '../../core/errors.ts';
import type { FileSpace } from '../../core/files/space.ts';
import type { KeyedRun } from '../../core/idempotency.ts';
import type { EndpointName } from '../../protocol/endpoints.ts';
import { parseLinkId, parseRoomCode } from '../../protocol/room-code.ts';
import { header, type Request } from '../request/request.ts';
import type { HandlerDeps } from './handler.ts';

/** A run of a request with a key; undefined if it has none, and runs as often as it is sent. */
export function keyedRun<T extends object>(
  { idempotency, roomLinks }: Pick<HandlerDeps, 'idempotency' | 'roomLinks'>,
  request: Request,
  endpoint: EndpointName,
  fingerprint: () => string,
): KeyedRun<T> | undefined {
  const key = keyIn(request);
  if (key === undefined) return undefined;
  const { roomId = '' } = request.params;
  const link = parseLinkId(roomId);
  const code = parseRoomCode(roomId);
  const room = link ? async () => (await roomLinks.find(link))?.code : code;
  const scope = `${endpoint} ${link ?? code ?? roomId}`;
  return idempotency.run({ key, client: request.client, scope, room }, fingerprint);
}

/** For the response. */
export const replayHeaders = (run: KeyedRun<object> | undefined): Record<string, string> =>
  run?.isReplayed ? { 'Idempotency-Replayed': 'true' } : {};

/** A quoted string, as the draft of the IETF defines it, or without quotes. Clients of one address share keys. */
function keyIn({ raw }: Request): string | undefined {
  const text = header(raw, 'idempotency-key');
  if (text === undefined) return undefined;
  const [, key] = /^"?([\x21\x23-\x5b\x5d-\x7e]{16,128})"?$/.exec(text.trim()) ?? [];
  if (key !== undefined) return key;
  const message = 'Idempotency-Key must have 16 to 128 visible ASCII characters, such as a random UUID.';
  throw invalidField('Idempotency-Key', message);
}

/** A hash of the values of a request. */
export function fingerprintOf(...values: readonly (string | undefined)[]): string {
  const hash = createHash('sha256');
  for (const value of values) hash.update(value === undefined ? '-;' : `${value.length};`).update(value ?? '');
  return hash.digest('base64url');
}

/**
 * Passes bytes on, and hashes them. `pipeline` would destroy the request if the upload fails, and the response with it;
 * call `stop` instead.
 */
export function hashing(from: Readable): { bytes: Readable; digest: () => string; stop: () => void } {
  const hash = createHash('sha256');
  const transform = (chunk: Buffer, _encoding: unknown, done: (error: null, chunk: Buffer) => void) => {
    hash.update(chunk);
    done(null, chunk);
  };
  const bytes = new Transform({ transform });
  bytes.on('error', () => undefined);
  onFailure(from, (error) => bytes.destroy(error));
  const stop = () => {
    from.unpipe(bytes);
    bytes.destroy();
  };
  return { bytes: from.pipe(bytes), digest: () => hash.digest('base64url'), stop };
}

/** The hash of a body that is not stored. */
export function digestOf(
  bytes: Readable,
  { isTooLarge, tooLarge }: Pick<FileSpace, 'isTooLarge' | 'tooLarge'>,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  let size = 0;
  return new Promise((resolve, reject) => {
    const stop = (reason: unknown) => {
      bytes.off('data', onData);
      reject(reason);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      hash.update(chunk);
      if (isTooLarge(size)) stop(tooLarge());
    };
    signal.addEventListener('abort', () => stop(signal.reason), { once: true });
    bytes.on('data', onData).once('end', () => resolve(hash.digest('base64url')));
    onFailure(bytes, stop);
  });
}

/** A form may be rejected, and its file closed without an error, before anyone reads the file. */
function onFailure(bytes: Readable, fail: (error: Error) => void): void {
  finished(bytes, { writable: false }, (error) => {
    if (error) fail(error);
  });
}
