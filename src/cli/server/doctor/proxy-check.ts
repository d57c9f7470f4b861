/** Whether the server knows who is behind the proxy, and does not believe whoever says so. */
import { networkInterfaces } from 'node:os';
import type { Config } from '../../../config.ts';
import { bad, type Finding, ok } from './finding.ts';

/** From the range that is kept for examples: nobody has it, so its limit is untouched. */
const forged = () => `203.0.113.${1 + Math.floor(Math.random() * 254)}`;

export async function aboutProxy(url: string, answer: Response, config: Partial<Config>): Promise<Finding[]> {
  const { trustedProxies } = config;
  if (!trustedProxies) return [];
  const isBelieved = await believes(url, forged());
  if (isBelieved && !isTrustedHere(trustedProxies)) {
    const what = 'The server believes any X-Forwarded-For that a client sends, so no limit holds.';
    return [bad(what, 'Let the proxy set or extend that header, and list in POPROOM_TRUSTED_PROXIES nothing else.')];
  }
  if (!isProxied(url, answer)) return [];
  if (trustedProxies.rules.length > 0) return [ok('There is a proxy, and it is said which ones to trust.')];
  const what = 'There is a proxy, and POPROOM_TRUSTED_PROXIES is not set: all people behind it share one limit.';
  return [bad(what, 'Set POPROOM_TRUSTED_PROXIES to the address that the proxy connects from.')];
}

/** Asks for what counts for no limit, but tells it: that of someone new is whole, ours is not any more. */
async function believes(url: string, address: string): Promise<boolean> {
  const isWhole = async (headers: Record<string, string>) => {
    const answer = await fetch(`${url}/livez`, { headers, signal: AbortSignal.timeout(10_000) });
    const [limit, left] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining'].map((name) => answer.headers.get(name));
    return limit !== null && limit === left;
  };
  try {
    return !(await isWhole({})) && (await isWhole({ 'X-Forwarded-For': address }));
  } catch {
    return false;
  }
}

/** Whom the server trusts may say anything: seen from there, all is well. */
function isTrustedHere(proxies: Config['trustedProxies']): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address, family }) => proxies.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'));
}

/** The server itself speaks no TLS, and does not say what it is. */
const isProxied = (url: string, { headers }: Response) =>
  url.startsWith('https:') || headers.has('Via') || headers.has('Server');
