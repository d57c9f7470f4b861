/** The type of handlers, what they use, and the forms that several have: confirmations, and requests that run once. */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished, type Readable, Transform } from 'node:stream';
import type { Reports } from '../../core/admin/admin.ts';
import type { Caller } from '../../core/admission.ts';
import type { Creation } from '../../core/creation.ts';
import { invalidField } from '../../core/errors.ts';
import type { Claims, FileSpace, Files } from '../../core/files/files.ts';
import type { Uploads } from '../../core/files/uploads.ts';
import type { Zips } from '../../core/files/zips.ts';
import type { Probes } from '../../core/health.ts';
import type { Idempotency, KeyedRun } from '../../core/idempotency.ts';
import type { Links } from '../../core/links.ts';
import type { LiveGateway } from '../../core/live-gateway.ts';
import type { ClientId, MaybePromise } from '../../core/ports/basics.ts';
import type { Rooms } from '../../core/rooms.ts';
import type { Webhooks } from '../../core/webhooks/webhooks.ts';
import type { EndpointName } from '../../protocol/endpoints.ts';
import type { RoomLimits } from '../../protocol/limits.ts';
import { parseLinkId, parseRoomCode } from '../../protocol/room-code.ts';
import type { AdminOperations } from '../admin/admin-interface.ts';
import type { PageFiles } from '../page/page-files.ts';
import type { ServerLimits } from '../page/server-limits.ts';
import type { OwnOrigins } from '../request/authorize.ts';
import { readCaller } from '../request/parse-body.ts';
import { header, type Request } from '../request/request.ts';
import { confirmation, type Reply } from '../response/reply.ts';
import type { LinkSettings } from '../urls.ts';

export type Handler = (request: Request) => MaybePromise<Reply>;

/** For an operation whose response is a sentence. The body of the request may contain a PIN and nothing else. */
export const confirmed =
  (message: string, operate: (caller: Caller, params: Request['params']) => Promise<unknown>): Handler =>
  async (request) => {
    await operate(await readCaller(request), request.params);
    return confirmation(message);
  };

/** One for each endpoint: a missing handler does not compile. */
export type Handlers = Record<EndpointName, Handler>;

export interface HandlerDeps {
  rooms: Rooms;
  creation: Creation;
  /** The user of a request, if a trusted proxy named one. */
  userOf(raw: IncomingMessage): string | undefined;
  /** Links with a role; `links` are URLs. */
  roomLinks: Links;
  files: Files;
  uploads: Uploads;
  claims: Claims;
  zips: Zips;
  webhooks: Webhooks;
  /** Undefined if the operator takes no reports. */
  reports: Reports | undefined;
  space: FileSpace;
  idempotency: Idempotency;
  probes: Probes;
  live: LiveGateway;
  links: LinkSettings;
  /** Pages of other origins may not open live channels. */
  origins: OwnOrigins;
  /** Fails with `NOT_FOUND` if the page was not built. */
  page: () => Promise<PageFiles>;
  /** For the documentation. */
  serverLimits: ServerLimits;
  largestContent: number;
  limits: RoomLimits;
  storedBytes(client: ClientId): Promise<number>;
  /** The text of /metrics; undefined if metrics are disabled. */
  metrics: (() => Promise<string>) | undefined;
  metricsToken: string | undefined;
  /** Undefined if there is no admin token. */
  admin: AdminOperations | undefined;
}

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
