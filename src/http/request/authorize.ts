/** The first step of every request: identify the client, check its API key and count against its rate limit. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { overLimit } from '../../core/admission.ts';
import { hashApiKey, looksLikeApiKey } from '../../core/clients.ts';
import { chain } from '../../core/concurrency.ts';
import { ClientBuckets } from '../../core/defence/work.ts';
import { hasCode, invalidField, PoproomError } from '../../core/errors.ts';
import type { ClientId, Clock, MaybePromise } from '../../core/ports/basics.ts';
import type { Allowance, ApiKey, KeyStore, Quota, RateCounter, Spending, Tier } from '../../core/ports/clients.ts';
import { secondsUntil } from '../../core/timestamp.ts';
import { createResumeTokens, createTickets, createUploadTickets, uploadTicketCounterMs } from '../../core/tokens.ts';
import { uploadTicketHeader } from '../../protocol/endpoints/endpoint.ts';
import { keyPrefix, resumeHeader, resumePrefix } from '../../protocol/live-protocol.ts';
import { parseRoomId } from '../../protocol/room-code.ts';
import { clientAddress, clientOf, header, type Query } from './request.ts';

interface AuthorizerDeps {
  keys: KeyStore;
  rates: RateCounter;
  clock: Clock;
  quotas: Record<Tier, Quota>;
  trustedProxies: BlockList;
  requireApiKey: boolean;
}

/** Decides whether a request of this client is free, and counts it if so. */
export type IsFree = (client: ClientId) => MaybePromise<boolean>;

/** How a request is authorized. */
interface AccessRules {
  counted: boolean;
  /** Whether it works without a required key, and while the counters are unavailable. */
  alwaysOpen: boolean;
  /** Whether a page of another site sent the request. */
  isCrossSite: boolean;
  /** Whether this request is exempt from the limit, although its endpoint is counted. */
  isFree?: IsFree | undefined;
  /** Whether a ticket replaces the API key. Only an authorized client gets one. */
  hasTicket?: boolean;
  /** Whether the request is free, unless its bytes do not match their checksum. */
  isFreeIfMatching?: boolean;
  /** Whether an access to a room may count the request. */
  countsWithAccess?: boolean;
}

export interface AuthResult {
  client: ClientId;
  /** The name of the API key, if the request has a valid one. */
  keyName?: string | undefined;
  /** Whether a page of another site sent the request, without an API key. */
  isCrossSite: boolean;
  /** Headers with the rate limit, each with its line break. Set also if the request is rejected. */
  rateLines: string;
  /** Why the request is rejected, if it is. */
  refusal: PoproomError | undefined;
  /** Counts a request whose bytes did not match their checksum, and returns its rate limit headers. */
  countMismatch?: () => Promise<string>;
  /** Set if the request is still to be counted. */
  spending?: Spending;
}

export type Authorizer = ReturnType<typeof createAuthorizer>;

export function createAuthorizer({ keys, rates, clock, quotas, trustedProxies, requireApiKey }: AuthorizerDeps) {
  /** Undefined if the key is unknown or revoked. */
  const findKey = (text: string) => (looksLikeApiKey(text) ? keys.find(hashApiKey(text)) : undefined);

  function identify(raw: IncomingMessage, entry: AccessRules): MaybePromise<AuthResult> {
    const text = keyOf(raw);
    if (text === undefined) return count(raw, entry, undefined, refusalOf(text, entry));
    return chain(findKey(text), (key) => count(raw, entry, key, key ? undefined : refusalOf(text, entry)));
  }

  /** A wrong key is reported even over the limit of the address: a client with a valid one would not have that limit. */
  function count(
    raw: IncomingMessage,
    entry: AccessRules,
    key: Pick<ApiKey, 'id' | 'name' | 'tier'> | undefined,
    refusal: PoproomError | undefined,
  ): MaybePromise<AuthResult> {
    const client = key ? `key:${key.id}` : clientAddress(raw, trustedProxies);
    const isCrossSite = entry.isCrossSite && key === undefined;
    const quota = quotas[key?.tier ?? 'free'];
    const who = { client, keyName: key?.name, isCrossSite, refusal };
    if (quota.limit === 0) return { ...who, rateLines: '' };
    const now = clock();
    if (entry.isFreeIfMatching) return countIfMismatch(who, quota, now);
    return chain(entry.counted ? (entry.isFree?.(client) ?? false) : true, (isFree): MaybePromise<AuthResult> => {
      if (!isFree && entry.countsWithAccess && !refusal)
        return { ...who, rateLines: '', spending: { client, quota, now } };
      return chain(rates[isFree ? 'peek' : 'take'](client, quota, now), (allowance) => ({
        ...who,
        rateLines: rateLines(quota, allowance, now),
        refusal: allowance.granted || hasCode(refusal, 'INVALID_API_KEY') ? refusal : overLimit(quota, allowance, now),
      }));
    });
  }

  /**
   * Bytes that do not match their checksum are written and change nothing, so each such request counts. A client that
   * sent some is refused when it has reached its limit. Others may finish their uploads then.
   */
  function countIfMismatch(auth: Omit<AuthResult, 'rateLines'>, quota: Quota, now: number): MaybePromise<AuthResult> {
    const { client } = auth;
    async function countMismatch(): Promise<string> {
      await rates.take(mismatchesOf(client), quota, now);
      return rateLines(quota, await rates.take(client, quota, now), now);
    }
    return chain(rates.peek(client, quota, now), (own): MaybePromise<AuthResult> => {
      const allowed = { ...auth, rateLines: rateLines(quota, own, now), countMismatch };
      if (own.remaining > 0) return allowed;
      return chain(rates.peek(mismatchesOf(client), quota, now), ({ remaining }) =>
        remaining === quota.limit ? allowed : { ...allowed, refusal: auth.refusal ?? overLimit(quota, own, now) },
      );
    });
  }

  /** The error for a request without a valid key, if it needs one. */
  function refusalOf(text: string | undefined, entry: AccessRules): PoproomError | undefined {
    if (!entry.counted || entry.hasTicket) return undefined;
    if (text !== undefined) return new PoproomError('INVALID_API_KEY', 'This API key is unknown or has been revoked.');
    if (!requireApiKey || entry.alwaysOpen) return undefined;
    return new PoproomError(
      'API_KEY_REQUIRED',
      'This server requires an API key. Send it as Authorization: Bearer KEY.',
    );
  }

  return {
    /** Whether an access to a room can count a request. */
    countsWithAccess: rates.countsWithAccess,

    authorize(raw: IncomingMessage, entry: AccessRules): MaybePromise<AuthResult> {
      if (entry.counted && !entry.alwaysOpen) return identify(raw, entry);
      // Health, the probes and the page must respond while the store is down.
      const client = () => clientAddress(raw, trustedProxies);
      const unknown = () => ({ client: client(), isCrossSite: entry.isCrossSite, rateLines: '', refusal: undefined });
      const authorizing = identify(raw, entry);
      return authorizing instanceof Promise ? authorizing.catch(unknown) : authorizing;
    },

    /** Counts a request, unless an access to a room has counted it. */
    async settle(spending: Spending): Promise<Pick<AuthResult, 'rateLines' | 'refusal'>> {
      const { client, quota, now } = spending;
      spending.counted ??= rates.take(client, quota, now);
      const allowance = await spending.counted;
      const refusal = allowance.granted ? undefined : overLimit(quota, allowance, now);
      return { rateLines: rateLines(quota, allowance, now), refusal };
    },

    /** The client by its address alone, for requests that could not be authorized. */
    addressOf: (raw: IncomingMessage) => clientAddress(raw, trustedProxies),

    /** The rate limit headers of an address, for malformed requests; empty if the counters are unavailable. */
    async rateLinesFor(address: string | undefined): Promise<string> {
      if (quotas.free.limit === 0) return '';
      const now = clock();
      try {
        return rateLines(quotas.free, await rates.peek(clientOf(address), quotas.free, now), now);
      } catch {
        return '';
      }
    },
  };
}

/** Whether a client has sent bytes that did not match their checksum. */
const mismatchesOf = (client: ClientId): ClientId => `${client}#mismatch`;

/** Composed at once, because every response has them. */
const rateLines = ({ tier, limit, windowMs }: Quota, { remaining, resetAt }: Allowance, now: number): string =>
  `RateLimit-Policy: "${tier}";q=${limit};w=${windowMs / 1000}\r\n` +
  `RateLimit: "${tier}";r=${remaining};t=${secondsUntil(resetAt, now)}\r\n` +
  `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\n` +
  `X-RateLimit-Reset: ${Math.ceil(resetAt / 1000)}\r\n`;

/** The API key or another token of a request. */
export const keyOf = (raw: IncomingMessage): string | undefined =>
  bearerOf(raw) ?? header(raw, 'x-api-key')?.trim() ?? inProtocols(raw, keyPrefix);

export const bearerOf = ({ headers: { authorization } }: IncomingMessage): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1]?.trim();

/** The value of a subprotocol with this prefix. Browsers cannot send other headers with a WebSocket. */
function inProtocols({ headers }: IncomingMessage, prefix: string): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return offered.find((name) => name.startsWith(prefix))?.slice(prefix.length);
}

/** Compares hashes, so that the time reveals nothing about the token. */
export function isSameToken(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

export interface OwnOrigins {
  publicUrl: string | undefined;
  /** Origins that the operator trusts as the server's own. */
  allowedOrigins: readonly string[];
}

/**
 * `cross-site-no-cors` stands for images, forms, frames and beacons, which any page may send. Browsers mark them over
 * HTTPS and on localhost. Over plain HTTP they look like requests of a program.
 */
type RequestSource = 'own' | 'cross-site' | 'cross-site-no-cors';

/** Cross-site requests must not use up the misses and PIN attempts of the visitor whose browser sends them. */
export function sourceOf(raw: IncomingMessage, own: OwnOrigins): RequestSource {
  const { origin, 'sec-fetch-site': site } = raw.headers;
  if (site === undefined) return isForeignOrigin(raw, own) ? 'cross-site' : 'own';
  if (site !== 'cross-site' || (origin !== undefined && own.allowedOrigins.includes(origin))) return 'own';
  const mode = raw.headers['sec-fetch-mode'];
  return mode === 'cors' || mode === 'websocket' ? 'cross-site' : 'cross-site-no-cors';
}

/** Browsers send Origin with every WebSocket, every CORS request and every method except GET and HEAD. */
export function isForeignOrigin({ headers }: IncomingMessage, { publicUrl, allowedOrigins }: OwnOrigins): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return false;
  const itsHost = URL.parse(origin)?.host;
  return !itsHost || (itsHost !== host && (!publicUrl || itsHost !== new URL(publicUrl).host));
}

/** The refusal of a live channel. */
export function foreignOrigin(): PoproomError {
  const message = 'Pages of this origin may not open live channels on this server.';
  return new PoproomError('ORIGIN_NOT_ALLOWED', message, { details: { field: 'Origin' } });
}

/** Forms can send these types without the permission of the server, and over plain HTTP browsers do not mark them. */
export function refuseForeignForm(raw: IncomingMessage, isCrossSite: boolean): void {
  if (isCrossSite && raw.headers['sec-fetch-mode'] !== 'cors') throw crossSiteRefused();
}

export const crossSiteRefused = (): PoproomError =>
  invalidField('Sec-Fetch-Site', 'Pages of other sites must use CORS requests to call the API.');

/**
 * Requests with a token do not count, and a token can be used repeatedly. Enough for all devices behind one address to
 * reconnect three times in a row.
 */
const freeRate = { burst: 60, perSecond: 1 };

export type FreeRequests = ReturnType<typeof createFreeRequests>;

/** Requests with a token or a ticket, which belong to a room with the code of the request. Some of them do not count. */
export function createFreeRequests(secret: string, rates: RateCounter, clock: Clock) {
  const [resumeTokens, tickets] = [createResumeTokens(secret, clock), createTickets(secret, clock)];
  const uploadTickets = createUploadTickets(secret, clock);
  const [resumed, ticketed] = [new ClientBuckets(freeRate), new ClientBuckets(freeRate)];
  return {
    /** The genuine token of a live channel that resumes. */
    resumeTokenIn(raw: IncomingMessage, roomId: string): string | undefined {
      const token = inProtocols(raw, resumePrefix) ?? header(raw, resumeHeader.toLowerCase());
      return token !== undefined && resumeTokens.isGenuine(token, roomId) ? token : undefined;
    },

    /** Whether this client may open one more channel without using its limit. Counts it. */
    takeResumed: (client: ClientId) => resumed.take(client, performance.now()),

    /** The genuine ticket of a download. */
    ticketIn(query: Query, roomId: string): string | undefined {
      const ticket = query.get('ticket');
      return ticket !== null && tickets.isGenuine(ticket, roomId) ? ticket : undefined;
    },

    /** Whether this client may make one more request with a ticket without using its limit. Counts it. */
    takeTicketed: (client: ClientId) => ticketed.take(client, performance.now()),

    /** How an upload uses the ticket that it has; undefined if it has none. Uploads that it was issued for are free. */
    uploadTakerFor(raw: IncomingMessage, roomId: string): IsFree | undefined {
      const given = header(raw, uploadTicketHeader.toLowerCase());
      const room = parseRoomId(roomId);
      if (given === undefined || room === undefined) return undefined;
      return (client) => {
        const ticket = uploadTickets.read(given, client, room);
        if (!ticket) return false;
        const quota = { tier: 'free', limit: ticket.uploads, windowMs: uploadTicketCounterMs } as const;
        return chain(rates.take(`${client}#uploads-${ticket.id}`, quota, clock()), ({ granted }) => granted);
      };
    },
  };
}
