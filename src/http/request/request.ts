/** A request as the handlers see it. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Caller } from '../../core/admission.ts';
import { PoproomError } from '../../core/errors.ts';
import type { MemoryBudget } from '../../core/memory-budget.ts';
import type { ClientId } from '../../core/ports.ts';
import type { Turns } from '../../core/turns.ts';

export interface Request {
  readonly id: string;
  readonly raw: IncomingMessage;
  readonly params: Record<string, string>;
  readonly query: Query;
  readonly client: ClientId;
  /** Whether a page of another site sent it, in its visitor's name. */
  readonly isCrossSite: boolean;
  readonly memory: MemoryBudget;
  /** For large bodies. */
  readonly turns: Turns;
  /** Of a live channel that resumes; see `core/resume-token.ts`. */
  readonly resumeToken: string | undefined;
  /** Tells a client that waits for it (`Expect: 100-continue`) to send the body; to be called after the checks. */
  readonly letBodyCome: () => void;
}

export type Query = Pick<URLSearchParams, 'get' | 'has'>;

/** Most requests have none, and an empty URLSearchParams takes its time to say so. */
const noQuery: Query = { get: () => null, has: () => false };

export function queryOf(url: string): Query {
  const at = url.indexOf('?');
  return at === -1 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

export function pathOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : url.slice(0, at);
}

/** Who is at the room's door; a PIN in the body counts only where neither header nor query has one. */
export function callerOf({ raw, params, query, client, isCrossSite }: Request, bodyPin?: string): Caller {
  return {
    client,
    isCrossSite,
    roomId: params.roomId ?? '',
    pin: header(raw, 'x-room-pin') ?? query.get('pin') ?? bodyPin,
    deviceId: header(raw, 'x-device-id'),
  };
}

export function header(raw: IncomingMessage, name: string): string | undefined {
  const value = raw.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export function announcedLength(raw: IncomingMessage): number | undefined {
  const value = raw.headers['content-length'];
  return value === undefined ? undefined : Number(value);
}

export function hasBody(raw: IncomingMessage): boolean {
  return raw.headers['transfer-encoding'] !== undefined || (announcedLength(raw) ?? 0) > 0;
}

/** What comes with a request. One without a body is over before it is asked for one, and cannot be read to its end. */
export function bodyOf(raw: IncomingMessage): Readable {
  return hasBody(raw) ? raw : Readable.from([]);
}

export function refuseCompressed(raw: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity' } = raw.headers;
  if (coding.toLowerCase() === 'identity') return;
  throw new PoproomError(
    'UNSUPPORTED_MEDIA_TYPE',
    'Compressed bodies are not taken; send it without Content-Encoding.',
  );
}
