/** Checks a running server over HTTP, as clients reach it. */
import type { Config } from '../../../config.ts';
import type { Readiness } from '../../../protocol/types.ts';
import { serverIdOf } from '../../server-choice.ts';
import type { Check, RunCheck, ServerAddress } from './check.ts';
import { clockFinding } from './clock-check.ts';
import { bad, type Finding, forCheck, ok, warning } from './finding.ts';
import { checkPage } from './page-check.ts';
import { checkProxy } from './proxy-check.ts';
import { checkRoom } from './room-check.ts';

const timeoutMs = 10_000;

/** Sends several requests in this order. */
const server: RunCheck = async (_config, { address, apiKey, settings }) => {
  if (!address) return [];
  const config = address.from === '--url' ? {} : settings.config;
  const before = Date.now();
  const response = await get(`${address.url}/readyz`);
  const after = Date.now();
  if (response === undefined) return [noResponse(address)];
  const body = (await response.json().catch(() => undefined)) as ResponseBody | undefined;
  if (isUnknownPath(address, body)) return [otherPath(address, config)];
  const readiness = parseReadiness(body);
  if (!readiness) return [notPoproom(address)];
  return [
    readinessFinding(address, readiness),
    ...checkClock(response, before, after),
    forCheck('cache', await checkCache(address.url)),
    forCheck('page', await checkPage(serverIdOf(address.url))),
    ...(await checkRoom(address.url, apiKey, config)),
    ...(await checkProxy(address.url, response, config)).map((finding) => forCheck('proxy', finding)),
    ...(await checkMetrics(address)),
  ];
};

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);

const startIt = 'Start it, and run this command again.';
/** Readiness, clock, cache, page, live channel, events, uploads and links. */
const skippedChecks = 8;

function noResponse({ url, from }: ServerAddress): Finding {
  if (from === 'PORT') return { ...warning(`No server is running at ${url}.`, startIt), skipped: skippedChecks };
  const fix = 'Start the server, and check the host name, the certificate and the proxy.';
  const found = `No response from ${url}.`;
  return from === '--url' ? bad(found, fix) : { ...warning(found, fix), skipped: skippedChecks };
}

function notPoproom({ url, from }: ServerAddress): Finding {
  const fix = from === 'PORT' ? 'Choose another PORT.' : 'Check the host name and the target of the proxy.';
  return bad(`The server at ${url} is not a Poproom server.`, fix);
}

interface ResponseBody extends Partial<Readiness> {
  error?: { code?: unknown };
}

/** A Poproom server that does not know the path of the URL has no such endpoint. */
function isUnknownPath({ url }: ServerAddress, body: ResponseBody | undefined): boolean {
  return new URL(url).pathname !== '/' && body?.error?.code === 'NOT_FOUND';
}

function otherPath({ url }: ServerAddress, { pathRemoved }: Partial<Config>): Finding {
  const found = `The Poproom server behind ${url} does not expect the path ${new URL(url).pathname}.`;
  if (pathRemoved) return bad(found, 'The proxy forwards the path: set POPROOM_PATH_REMOVED=false, and restart it.');
  return bad(found, `Set POPROOM_PUBLIC_URL=${url} for the server, and restart it.`);
}

function parseReadiness(body: ResponseBody | undefined): Readiness | undefined {
  return typeof body?.checks === 'object' ? (body as Readiness) : undefined;
}

function readinessFinding({ url }: ServerAddress, { checks }: Readiness): Finding {
  const failing = Object.entries(checks).filter(([, verdict]) => verdict !== 'ok');
  if (failing.length === 0) return ok(`The server at ${url} is ready.`);
  const list = failing.map(([name, verdict]) => `${name} ${verdict}`).join(', ');
  return bad(`The server at ${url} is not ready: ${list}.`, 'Check its log, and the other findings.');
}

/** The Date header has whole seconds, so half a second is added. */
function checkClock(response: Response, before: number, after: number): Finding[] {
  const theirs = Date.parse(response.headers.get('Date') ?? '') + 500;
  return Number.isNaN(theirs) ? [] : [clockFinding('the server', { theirs, before, after })];
}

/** The same request id twice means that a cache repeated the response. */
async function checkCache(url: string): Promise<Finding> {
  const [first, second] = [await get(`${url}/api/health`), await get(`${url}/api/health`)];
  const id = (response: Response | undefined) => response?.headers.get('X-Request-Id') ?? Math.random();
  if (!second?.headers.has('Age') && id(first) !== id(second)) return ok('Responses are not cached.');
  return bad('A proxy caches API responses.', 'Disable caching for /api; every response has Cache-Control: no-store.');
}

async function checkMetrics({ url, from }: ServerAddress): Promise<Finding[]> {
  if (from === 'PORT' || !(await get(`${url}/metrics`))?.ok) return [];
  return [warning(`Anyone can read ${url}/metrics.`, 'Block that path at the proxy, or set POPROOM_METRICS_TOKEN.')];
}

export const serverChecks: readonly Check[] = [{ name: 'server', needs: [], run: server }];
