/** Checks that the server sees the addresses of clients behind a proxy, and does not accept forged ones. */
import { networkInterfaces } from 'node:os';
import type { Config } from '../../../config.ts';
import { bad, type Finding, ok } from './finding.ts';

/** From the range reserved for documentation: no client has it, so its limit is unused. */
const forgedAddress = () => `203.0.113.${1 + Math.floor(Math.random() * 254)}`;

export async function checkProxy(url: string, response: Response, config: Partial<Config>): Promise<Finding[]> {
  const { trustedProxies } = config;
  const isForgeable = await acceptsForged(url, forgedAddress());
  if (isForgeable && !(trustedProxies && isLocalTrusted(trustedProxies))) {
    const found = 'The server accepts any X-Forwarded-For that a client sends, so clients can evade all limits.';
    return [bad(found, 'Make the proxy set or extend that header, and list only proxies in POPROOM_TRUSTED_PROXIES.')];
  }
  if (!isProxied(url, response, config)) return [];
  if (!trustedProxies)
    return [ok('There is a proxy. On the server, "poproom doctor" also checks POPROOM_TRUSTED_PROXIES.')];
  if (trustedProxies.rules.length > 0) return [ok('There is a proxy, and POPROOM_TRUSTED_PROXIES is set.')];
  const found = 'There is a proxy, but POPROOM_TRUSTED_PROXIES is not set: all clients behind it share one limit.';
  return [bad(found, 'Set POPROOM_TRUSTED_PROXIES to the address that the proxy connects from.')];
}

/** Compares limits on /livez, which does not count as a request: a new client has all requests left, we do not. */
async function acceptsForged(url: string, address: string): Promise<boolean> {
  const isUnused = async (headers: Record<string, string>) => {
    const response = await fetch(`${url}/livez`, { headers, signal: AbortSignal.timeout(10_000) });
    const [limit, remaining] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining'].map((name) => response.headers.get(name));
    return limit !== null && limit === remaining;
  };
  try {
    return !(await isUnused({})) && (await isUnused({ 'X-Forwarded-For': address }));
  } catch {
    return false;
  }
}

/** If the server trusts this machine as a proxy, it rightly accepts our header. */
function isLocalTrusted(proxies: Config['trustedProxies']): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address, family }) => proxies.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'));
}

/** The server itself sends neither header. Without its settings, TLS may be its own. */
const isProxied = (url: string, { headers }: Response, { tlsCert, port }: Partial<Config>) =>
  (url.startsWith('https:') && port !== undefined && !tlsCert) || headers.has('Via') || headers.has('Server');
