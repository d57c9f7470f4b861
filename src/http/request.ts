/** A request as the handlers see it. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../core/admission.ts';
import { PoproomError } from '../core/errors.ts';
import type { ClientId } from '../core/ports.ts';

export interface Request {
  readonly id: string;
  readonly raw: IncomingMessage;
  readonly params: Record<string, string>;
  readonly query: URLSearchParams;
  readonly client: ClientId;
  /** Tells a client that waits for it (`Expect: 100-continue`) to send the body; to be called after the checks. */
  readonly letBodyCome: () => void;
}

/** What a request asks for. A client may name the whole address instead of the path, as it would to a proxy. */
export function targetOf({ url = '' }: IncomingMessage): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}

const noQuery = new URLSearchParams();

export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return at === -1 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

export function pathOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : url.slice(0, at);
}

/** Who is at the room's door; a PIN in the body counts only where neither header nor query has one. */
export function callerOf({ raw, params, query, client }: Request, bodyPin?: string): Caller {
  return {
    client,
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

export function refuseCompressed(raw: IncomingMessage): void {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } = raw.headers;
  if (content.toLowerCase() === 'identity' && transfer.toLowerCase() === 'chunked') return;
  throw new PoproomError(
    'UNSUPPORTED_MEDIA_TYPE',
    'Compressed bodies are not taken; send it without Content-Encoding.',
  );
}
