/** A request as handlers receive it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Caller } from '../../core/admission.ts';
import type { Budgets } from '../../core/defence/transfer-budget.ts';
import type { Turns } from '../../core/defence/turns.ts';
import { PoproomError } from '../../core/errors.ts';
import type { ClientId } from '../../core/ports.ts';

export interface Request {
  readonly id: string;
  readonly raw: IncomingMessage;
  /** Handlers return a reply. They use this only to hold a part of a budget until it has been sent. */
  readonly response: ServerResponse;
  readonly params: Record<string, string>;
  readonly query: Query;
  readonly client: ClientId;
  /** Whether a page of another site sent it. */
  readonly isCrossSite: boolean;
  readonly budgets: Budgets;
  /** For large bodies. */
  readonly turns: Turns;
  /** Set if a live channel resumes; see `core/resume-token.ts`. */
  readonly resumeToken: string | undefined;
  /** Set if the query has a genuine ticket for a room with this code; see `core/ticket.ts`. */
  readonly ticket: string | undefined;
  /** Sends `100 Continue` to a client that waits for it. Call this after the checks. */
  readonly sendContinue: () => void;
}

export type Query = Pick<URLSearchParams, 'get' | 'has'>;

/** Most requests have no query, and creating an empty URLSearchParams is slow. */
const noQuery: Query = { get: () => null, has: () => false };

export function queryOf(url: string): Query {
  const at = url.indexOf('?');
  return at === -1 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

export function pathOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : url.slice(0, at);
}

/** The maximum length of a list in the response; undefined for all of it. */
export function limitIn({ query }: Request): number | undefined {
  const text = query.get('limit');
  if (text === null) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new PoproomError('VALIDATION_FAILED', '"limit" must be a whole number from 1 to 9999.', {
    details: { field: 'limit' },
  });
}

/** The caller of a room operation. A PIN in the body counts only if neither the header nor the query has one. */
export function callerOf({ raw, params, query, client, isCrossSite }: Request, bodyPin?: string): Caller {
  return {
    client,
    isCrossSite,
    roomId: params.roomId ?? '',
    pin: header(raw, 'x-room-pin') ?? query.get('pin') ?? bodyPin,
    auth: header(raw, 'x-room-auth'),
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

/** Node ends a request without a body before anyone reads it, so it is replaced by an empty stream. */
export function bodyOf(raw: IncomingMessage): Readable {
  return hasBody(raw) ? raw : Readable.from([]);
}

/** The content type without its parameters, in lower case. Text is UTF-8 unless a charset says otherwise. */
export function mediaTypeOf({ headers }: IncomingMessage): { type: string; isUtf8Text: boolean } {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  return { type: type.trim(), isUtf8Text: charset === undefined || /^utf-?8$/.test(charset) };
}

export function refuseCompressed(raw: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity' } = raw.headers;
  if (coding.toLowerCase() === 'identity') return;
  throw new PoproomError(
    'UNSUPPORTED_MEDIA_TYPE',
    'Compressed bodies are not supported. Send the body without Content-Encoding.',
  );
}
