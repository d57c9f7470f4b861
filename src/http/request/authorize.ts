/** The first step of every request: identify the client, check its API key and count against its rate limit. */
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { hashApiKey, looksLikeApiKey } from '../../core/clients.ts';
import { chain } from '../../core/concurrency.ts';
import { hasCode, PoproomError, secondsUntil } from '../../core/errors.ts';
import type {
  Allowance,
  ApiKey,
  ClientId,
  Clock,
  KeyStore,
  MaybePromise,
  Quota,
  RateCounter,
  Tier,
} from '../../core/ports.ts';
import { clientAddress, clientOf } from './client-address.ts';
import { header } from './request.ts';

export interface AuthorizerOptions {
  keys: KeyStore;
  rates: RateCounter;
  clock: Clock;
  quotas: Record<Tier, Quota>;
  trustedProxies: BlockList;
  requireApiKey: boolean;
}

/** How requests to a path are authorized. */
interface RoutePolicy {
  counted: boolean;
  /** Whether it works without a required key, and while the counters are unavailable. */
  alwaysOpen: boolean;
  /** Whether a page of another site sent the request. */
  isCrossSite: boolean;
  /** Whether this request is exempt from the limit, although its endpoint is counted. */
  isFree?: ((client: ClientId) => boolean) | undefined;
  /** Whether a ticket replaces the API key. Only an authorized client gets one. */
  hasTicket?: boolean;
  /** Whether the request is free, unless its bytes do not match their checksum. */
  isFreeIfMatching?: boolean;
}

export interface AuthResult {
  client: ClientId;
  /** Whether a page of another site sent the request, without an API key. */
  isCrossSite: boolean;
  headers: Record<string, string>;
  /** Why the request is rejected, if it is. The headers are set in both cases. */
  refusal: PoproomError | undefined;
  /** Counts a request whose bytes did not match their checksum, and returns its headers. */
  countMismatch?: () => Promise<Record<string, string>>;
}

export interface Authorizer {
  authorize(raw: IncomingMessage, entry: RoutePolicy): MaybePromise<AuthResult>;
  /** The client by its address alone, for requests that could not be authorized. */
  addressOf(raw: IncomingMessage): ClientId;
  /** The rate limit headers of an address, for malformed requests; empty if the counters are unavailable. */
  headersFor(address: string | undefined): Promise<Record<string, string>>;
}

export function createAuthorizer(parts: AuthorizerOptions): Authorizer {
  const { keys, rates, clock, quotas, trustedProxies, requireApiKey } = parts;

  /** Undefined if the key is unknown or revoked. */
  const findKey = (text: string) => (looksLikeApiKey(text) ? keys.find(hashApiKey(text)) : undefined);

  function identify(raw: IncomingMessage, entry: RoutePolicy): MaybePromise<AuthResult> {
    const text = keyOf(raw);
    if (text === undefined) return count(raw, entry, undefined, refusalOf(text, entry));
    return chain(findKey(text), (key) => count(raw, entry, key, key ? undefined : refusalOf(text, entry)));
  }

  /** A wrong key is reported even over the limit of the address: a client with a valid one would not have that limit. */
  function count(
    raw: IncomingMessage,
    entry: RoutePolicy,
    key: Pick<ApiKey, 'id' | 'tier'> | undefined,
    refusal: PoproomError | undefined,
  ): MaybePromise<AuthResult> {
    const client = key ? `key:${key.id}` : clientAddress(raw, trustedProxies);
    const isCrossSite = entry.isCrossSite && key === undefined;
    const quota = quotas[key?.tier ?? 'free'];
    if (quota.limit === 0) return { client, isCrossSite, headers: {}, refusal };
    const now = clock();
    if (entry.isFreeIfMatching) return countIfMismatch({ client, isCrossSite, refusal }, quota, now);
    const spend = entry.counted && !entry.isFree?.(client) ? 'take' : 'peek';
    return chain(rates[spend](client, quota, now), (allowance) => ({
      client,
      isCrossSite,
      headers: rateHeaders(quota, allowance, now),
      refusal: allowance.granted || hasCode(refusal, 'INVALID_API_KEY') ? refusal : overLimit(quota, allowance, now),
    }));
  }

  /**
   * Bytes that do not match their checksum are written and change nothing, so each such request counts. A client that
   * sent some is refused when it has reached its limit. Others may finish their uploads then.
   */
  function countIfMismatch(auth: Omit<AuthResult, 'headers'>, quota: Quota, now: number): MaybePromise<AuthResult> {
    const { client } = auth;
    async function countMismatch(): Promise<Record<string, string>> {
      await rates.take(mismatchesOf(client), quota, now);
      return rateHeaders(quota, await rates.take(client, quota, now), now);
    }
    return chain(rates.peek(client, quota, now), (own): MaybePromise<AuthResult> => {
      const allowed = { ...auth, headers: rateHeaders(quota, own, now), countMismatch };
      if (own.remaining > 0) return allowed;
      return chain(rates.peek(mismatchesOf(client), quota, now), ({ remaining }) =>
        remaining === quota.limit ? allowed : { ...allowed, refusal: auth.refusal ?? overLimit(quota, own, now) },
      );
    });
  }

  /** The error for a request without a valid key, if it needs one. */
  function refusalOf(
    text: string | undefined,
    { counted, alwaysOpen, hasTicket }: RoutePolicy,
  ): PoproomError | undefined {
    if (!counted || hasTicket) return undefined;
    if (text !== undefined) return invalidKey();
    return requireApiKey && !alwaysOpen ? keyRequired() : undefined;
  }

  return {
    authorize(raw, entry) {
      if (entry.counted && !entry.alwaysOpen) return identify(raw, entry);
      // Health, the probes and the page must respond while the store is down.
      const client = () => clientAddress(raw, trustedProxies);
      const unknown = () => ({ client: client(), isCrossSite: entry.isCrossSite, headers: {}, refusal: undefined });
      const authorizing = identify(raw, entry);
      return authorizing instanceof Promise ? authorizing.catch(unknown) : authorizing;
    },

    addressOf: (raw) => clientAddress(raw, trustedProxies),

    async headersFor(address) {
      if (quotas.free.limit === 0) return {};
      const now = clock();
      try {
        return rateHeaders(quotas.free, await rates.peek(clientOf(address), quotas.free, now), now);
      } catch {
        return {};
      }
    },
  };
}

/** Whether a client has sent bytes that did not match their checksum. */
const mismatchesOf = (client: ClientId): ClientId => `${client}#mismatch`;

/** The constant parts of the headers, by quota. */
const policies = new WeakMap<Quota, { policy: string; limit: string }>();

function policyOf(quota: Quota): { policy: string; limit: string } {
  const known = policies.get(quota);
  if (known) return known;
  const { tier, limit, windowMs } = quota;
  const made = { policy: `"${tier}";q=${limit};w=${windowMs / 1000}`, limit: String(limit) };
  policies.set(quota, made);
  return made;
}

function rateHeaders(quota: Quota, { remaining, resetAt }: Allowance, now: number) {
  const { policy, limit } = policyOf(quota);
  return {
    'RateLimit-Policy': policy,
    RateLimit: `"${quota.tier}";r=${remaining};t=${secondsUntil(resetAt, now)}`,
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
  };
}

/** The API key or another token of a request. */
export function keyOf(raw: IncomingMessage): string | undefined {
  const { authorization } = raw.headers;
  const bearer = authorization === undefined ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1];
  return bearer?.trim() ?? header(raw, 'x-api-key')?.trim();
}

function keyRequired(): PoproomError {
  return new PoproomError('API_KEY_REQUIRED', 'This server requires an API key. Send it as Authorization: Bearer KEY.');
}

function invalidKey(): PoproomError {
  return new PoproomError('INVALID_API_KEY', 'This API key is unknown or has been revoked.');
}

function overLimit({ limit, tier }: Quota, { resetAt }: Allowance, now: number): PoproomError {
  const retryAfter = secondsUntil(resetAt, now);
  const minutes = Math.ceil(retryAfter / 60);
  return new PoproomError(
    'RATE_LIMITED',
    `Too many requests: the ${tier} tier allows ${limit} per hour. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    { retryAfter, details: { reason: 'requests', retryAfter, limit } },
  );
}
