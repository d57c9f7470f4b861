/** What every request passes first: who it is, whether its key holds, whether its limit allows it. */
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { hashApiKey, looksLikeApiKey } from '../../core/api-key.ts';
import { PoproomError, secondsUntil } from '../../core/errors.ts';
import { chain } from '../../core/maybe-promise.ts';
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

/** What the path of a request asks of the authorizer. */
export interface RoutePolicy {
  counted: boolean;
  /** Whether it answers even where everyone needs a key, and where the counters cannot be reached. */
  alwaysOpen: boolean;
  /** Whether a page of another site sent it. */
  isCrossSite: boolean;
  /** Whether this one does not go into the client's limit, although its endpoint is counted. */
  isFree?: ((client: ClientId) => boolean) | undefined;
}

export interface AuthResult {
  client: ClientId;
  /** Whether a page of another site sent it in the client's name, and without a key of its own. */
  isCrossSite: boolean;
  headers: Record<string, string>;
  /** Why the request goes no further, if it does not; the headers stand in any case. */
  refusal: PoproomError | undefined;
}

export interface Authorizer {
  authorize(raw: IncomingMessage, entry: RoutePolicy): MaybePromise<AuthResult>;
  /** The client by its address alone, for requests that could not be authorized. */
  addressOf(raw: IncomingMessage): ClientId;
  /** The rate headers of an address, for what is too malformed to be a request; none where they cannot be reached. */
  headersFor(address: string | undefined): Promise<Record<string, string>>;
}

export function createAuthorizer(parts: AuthorizerOptions): Authorizer {
  const { keys, rates, clock, quotas, trustedProxies, requireApiKey } = parts;
  // Half of what their visitor has, so that no page of another site can use up all of it.
  const crossSiteQuota = { ...quotas.free, limit: Math.ceil(quotas.free.limit / 2) };

  /** Of the key that a request shows; undefined when it does not hold. */
  const findKey = (text: string) => (looksLikeApiKey(text) ? keys.find(hashApiKey(text)) : undefined);

  function pass(raw: IncomingMessage, entry: RoutePolicy): MaybePromise<AuthResult> {
    const text = keyOf(raw);
    if (text === undefined) return count(raw, entry, undefined, refusalOf(text, entry));
    return chain(findKey(text), (key) => count(raw, entry, key, key ? undefined : refusalOf(text, entry)));
  }

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
    const allow = (allowance: Allowance, of: Quota = quota) => ({
      client,
      isCrossSite,
      headers: rateHeaders(of, allowance, now),
      refusal: allowance.granted ? refusal : overLimit(of, allowance, now),
    });
    const spend = entry.counted && !entry.isFree?.(client) ? 'take' : 'peek';
    if (!isCrossSite) return chain(rates[spend](client, quota, now), allow);
    return chain(rates[spend](crossSiteShareOf(client), crossSiteQuota, now), (share): MaybePromise<AuthResult> => {
      if (!share.granted) return allow(share, crossSiteQuota);
      return chain(rates[spend](client, quota, now), (own) =>
        own.granted && share.remaining < own.remaining ? allow(share, crossSiteQuota) : allow(own),
      );
    });
  }

  /** Of a request without a key that holds. */
  function refusalOf(text: string | undefined, { counted, alwaysOpen }: RoutePolicy): PoproomError | undefined {
    if (!counted) return undefined;
    if (text !== undefined) return invalidKey();
    return requireApiKey && !alwaysOpen ? keyRequired() : undefined;
  }

  return {
    authorize(raw, entry) {
      if (entry.counted && !entry.alwaysOpen) return pass(raw, entry);
      // Health and the probes must be able to say that the store is down, and the page that it is there.
      const client = () => clientAddress(raw, trustedProxies);
      const unknown = () => ({ client: client(), isCrossSite: entry.isCrossSite, headers: {}, refusal: undefined });
      const passing = pass(raw, entry);
      return passing instanceof Promise ? passing.catch(unknown) : passing;
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

/** Requests of other sites' pages count here, and for the client as well. */
const crossSiteShareOf = (client: ClientId): ClientId => `${client}#cross-site`;

/** What of the headers never changes, by quota. */
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

function keyOf(raw: IncomingMessage): string | undefined {
  const { authorization } = raw.headers;
  const bearer = authorization === undefined ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1];
  return bearer?.trim() ?? header(raw, 'x-api-key')?.trim();
}

function keyRequired(): PoproomError {
  return new PoproomError('API_KEY_REQUIRED', 'This server asks for an API key: send it as Authorization: Bearer KEY.');
}

function invalidKey(): PoproomError {
  return new PoproomError('INVALID_API_KEY', 'This API key is unknown or was revoked.');
}

function overLimit({ limit, tier }: Quota, { resetAt }: Allowance, now: number): PoproomError {
  const retryAfter = secondsUntil(resetAt, now);
  const minutes = Math.ceil(retryAfter / 60);
  return new PoproomError(
    'RATE_LIMITED',
    `The ${limit} requests an hour of the ${tier} tier are used up; try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    { retryAfter, details: { reason: 'requests', retryAfter, limit } },
  );
}
