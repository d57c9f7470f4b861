/** A request as handlers receive it, and the client that sent it. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { Readable } from 'node:stream';
import type { Caller } from '../../core/admission.ts';
import type { Budgets } from '../../core/defence/transfer-budget.ts';
import type { Turns } from '../../core/defence/work.ts';
import { invalidField, PoproomError } from '../../core/errors.ts';
import type { ClientId } from '../../core/ports/basics.ts';
import type { Spending } from '../../core/ports/clients.ts';

export interface Request {
  readonly id: string;
  readonly raw: IncomingMessage;
  /** Handlers return a reply. They use this only to hold a part of a budget until it has been sent. */
  readonly response: ServerResponse;
  readonly params: Record<string, string>;
  readonly query: Query;
  readonly client: ClientId;
  /** The name of its API key, if it has one. */
  readonly keyName: string | undefined;
  /** Whether a page of another site sent it. */
  readonly isCrossSite: boolean;
  /** Set if its access to a room counts it. */
  readonly spending: Spending | undefined;
  readonly budgets: Budgets;
  /** For large bodies. */
  readonly turns: Turns;
  /** Set if a live channel resumes; see `core/tokens.ts`. */
  readonly resumeToken: string | undefined;
  /** Set if the query has a genuine ticket for a room with this code; see `core/tokens.ts`. */
  readonly ticket: string | undefined;
  /** Sends `100 Continue` to a client that waits for it. Call this after the checks. */
  readonly sendContinue: () => void;
}

export type Query = Pick<URLSearchParams, 'get' | 'has'>;

export const queryOf = (url: string): Query =>
  url.includes('?') ? new URLSearchParams(url.slice(pathOf(url).length)) : noQuery;

const noQuery: Query = new URLSearchParams();

export function pathOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : url.slice(0, at);
}

/** The maximum length of a list in the response; undefined for all of it. */
export function limitIn({ query }: Request): number | undefined {
  const text = query.get('limit');
  if (text === null) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw invalidField('limit', '"limit" must be a whole number from 1 to 9999.');
}

/**
 * Whether an upload is a one-time file: the same values in a query, a form and the metadata of tus. Rejects unknown
 * ones, because ignoring one would make the file public to the room.
 */
export function parseOnce(text: string | null | undefined): boolean {
  if (text === null || text === undefined || text === 'false' || text === '0') return false;
  // An HTML checkbox sends `on`, and a flag without a value is empty.
  if (['true', '1', 'on', ''].includes(text)) return true;
  throw invalidField('once', '"once" must be true or false.');
}

/** The caller of a room operation. A PIN in the body counts only if neither the header nor the query has one. */
export function callerOf({ raw, params, query, client, isCrossSite, spending }: Request, bodyPin?: string): Caller {
  return {
    client,
    isCrossSite,
    spending,
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

export const hasBody = (raw: IncomingMessage): boolean =>
  raw.headers['transfer-encoding'] !== undefined || (announcedLength(raw) ?? 0) > 0;

/** Node ends a request without a body before anyone reads it, so it is replaced by an empty stream. */
export const bodyOf = (raw: IncomingMessage): Readable => (hasBody(raw) ? raw : Readable.from([]));

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
  const message = 'Compressed bodies are not supported. Send the body without Content-Encoding.';
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', message);
}

/** The id that a proxy or a client gave the request, if it is short and harmless in a log. */
export function givenRequestId({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined;
}

/** The trace id of a W3C `traceparent`, for the log; undefined if the header is missing or invalid. */
export function traceIdIn({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const { version, traceId, more } = traceParent.exec(traceparent)?.groups ?? {};
  return version === '00' && more !== undefined ? undefined : traceId;
}

/** Only later versions may have more fields. Version ff is invalid, and so are ids of zeros. */
const traceParent =
  /^(?!ff)(?<version>[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?<more>-.*)?$/;

/** Unique across restarts: a random prefix for this run, which is not secret, and a number. */
export function createRequestIds(): () => string {
  const run = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}

/**
 * The reason to reject a request that Node's parser accepts but that a proxy may interpret differently, and to close its
 * connection; undefined if there is none.
 */
export function framingError({ httpVersion, url = '', headers }: IncomingMessage): PoproomError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return badFraming('This server supports HTTP/1.0 and HTTP/1.1 only.');
  if (host === undefined && httpVersion === '1.1') return badFraming('The request has no Host header.', 'Host');
  // Node joins repeated headers with a comma.
  if (host?.includes(',')) return badFraming('The request has more than one Host header.', 'Host');
  if (!url.startsWith('/')) return badFraming('The request target must be a path.');
  if (coding === undefined) return undefined;
  // HTTP/1.0 has no chunks, so a proxy between the client and us may have ignored them.
  if (httpVersion === '1.0') return badFraming('HTTP/1.0 does not support Transfer-Encoding.', 'Transfer-Encoding');
  if (coding.toLowerCase() === 'chunked') return undefined;
  return badFraming('The only supported Transfer-Encoding is chunked.', 'Transfer-Encoding');
}

const badFraming = (message: string, field?: string): PoproomError =>
  field === undefined ? new PoproomError('VALIDATION_FAILED', message) : invalidField(field, message);

/** The address that a request counts against. */
export const clientAddress = (request: IncomingMessage, proxies: BlockList): ClientId =>
  countAs(fullAddress(request, proxies));

/** The address itself, where a client counts by its IPv6 /64. */
export function fullAddress(request: IncomingMessage, proxies: BlockList): string {
  const peer = normalize(request.socket.remoteAddress ?? '');
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded === undefined || !isTrusted(peer, proxies)) return peer;
  return rightmostUntrusted(String(forwarded), peer, proxies);
}

/** The client at the other end of a socket. */
export const clientOf = (address: string | undefined): ClientId => countAs(normalize(address ?? ''));

export const cameThroughProxy = (request: IncomingMessage, proxies: BlockList): boolean =>
  isProxy(request.socket.remoteAddress, proxies);

/** Whether the other end of a socket is a trusted proxy. */
export const isProxy = (address: string | undefined, proxies: BlockList): boolean =>
  isTrusted(normalize(address ?? ''), proxies);

/**
 * The user that a trusted proxy named in a header. A second value may be from the client, so there must be exactly one.
 * Node reads headers as Latin-1, and proxies send UTF-8.
 */
export function forwardedUser(request: IncomingMessage, header: string, proxies: BlockList): string | undefined {
  if (!cameThroughProxy(request, proxies)) return undefined;
  const [value, ...more] = request.headersDistinct[header.toLowerCase()] ?? [];
  const bytes = Buffer.from(value?.trim() ?? '', 'latin1');
  const user = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return more.length === 0 && isUserName.test(user) ? user : undefined;
}

/** Without control and invisible characters, which could disguise a name in the admin interface. */
const isUserName = /^[^\p{C}\p{Zl}\p{Zp}]{1,254}$/u;

/** Entries left of the rightmost untrusted address can be forged. */
function rightmostUntrusted(forwarded: string, peer: string, proxies: BlockList): string {
  let nearest = peer;
  for (const part of forwarded.split(',').reverse()) {
    const address = normalize(withoutPort(part.trim()));
    if (!isIPv4(address) && !isIPv6(address)) return nearest;
    nearest = address;
    if (!isTrusted(address, proxies)) return address;
  }
  return nearest;
}

const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;

const isTrusted = (address: string, proxies: BlockList): boolean =>
  proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4');

/**
 * Normalizes an address. IPv4-mapped IPv6 becomes IPv4. Avoids Node's check for IPv6, a regular expression that takes
 * several milliseconds to compile, for which the first response would wait.
 */
function normalize(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = ipv4In(address);
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  return ipv4In(plain) ?? plain;
}

const ipv4In = (address: string): string | undefined => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];

/** A household has a /64: counting single addresses would give it 2^64 limits. */
const countAs = (address: string): ClientId =>
  address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;

/** The eight groups of an IPv6 address. */
export function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...gap, ...right];
}
