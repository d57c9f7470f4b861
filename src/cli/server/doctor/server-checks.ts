/** Checks a running server over HTTP, as clients reach it. */
import { networkInterfaces } from 'node:os';
import { createClient, type PoproomError, type Room, type RoomInfo } from '../../../client/index.ts';
import type { Config } from '../../../config.ts';
import type { Readiness } from '../../../protocol/types.ts';
import { serverIdOf } from '../../known-rooms.ts';
import { formatBytes } from '../../output.ts';
import {
  bad,
  check,
  clockFinding,
  type DoctorContext,
  type Finding,
  forCheck,
  ok,
  type ServerAddress,
  warning,
} from './check.ts';

const timeoutMs = 10_000;

export const serverChecks = [check('server', [], checkServer)];

/** Sends several requests in this order. */
async function checkServer(_config: unknown, context: DoctorContext): Promise<Finding[]> {
  const { address, settings } = context;
  if (!address) return [];
  const config = address.from === '--url' ? {} : settings.config;
  const before = Date.now();
  const response = await get(`${address.url}/readyz`);
  const after = Date.now();
  if (response === undefined) return [noResponse(address)];
  const body = (await response.json().catch(() => undefined)) as ResponseBody | undefined;
  // A Poproom server that does not know the path of the URL has no such endpoint.
  if (new URL(address.url).pathname !== '/' && body?.error?.code === 'NOT_FOUND') return [otherPath(address, config)];
  if (typeof body?.checks !== 'object') return [notPoproom(address)];
  return [
    readinessFinding(address, body.checks),
    ...checkClock(response, before, after),
    forCheck('cache', await checkCache(address.url)),
    forCheck('page', await checkPage(serverIdOf(address.url))),
    ...(await checkRoom(address.url, context, config)),
    ...(await checkProxy(address.url, response, config)).map((finding) => forCheck('proxy', finding)),
    ...(await checkMetrics(address)),
  ];
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);

/** Readiness, clock, cache, page, live channel, events, uploads and links. */
const skippedChecks = 8;

function noResponse({ url, from }: ServerAddress): Finding {
  const fix = 'Start the server, and check the host name, the certificate and the proxy.';
  const found = `No response from ${url}.`;
  if (from === '--url') return bad(found, fix);
  const notRunning = warning(`No server is running at ${url}.`, 'Start it, and run this command again.');
  return { ...(from === 'PORT' ? notRunning : warning(found, fix)), skipped: skippedChecks };
}

function notPoproom({ url, from }: ServerAddress): Finding {
  const fix = from === 'PORT' ? 'Choose another PORT.' : 'Check the host name and the target of the proxy.';
  return bad(`The server at ${url} is not a Poproom server.`, fix);
}

type ResponseBody = Partial<Readiness> & { error?: { code?: unknown } };

function otherPath({ url }: ServerAddress, { pathRemoved }: Partial<Config>): Finding {
  const found = `The Poproom server behind ${url} does not expect the path ${new URL(url).pathname}.`;
  if (pathRemoved) return bad(found, 'The proxy forwards the path: set POPROOM_PATH_REMOVED=false, and restart it.');
  return bad(found, `Set POPROOM_PUBLIC_URL=${url} for the server, and restart it.`);
}

function readinessFinding({ url }: ServerAddress, checks: Readiness['checks']): Finding {
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

/** `url` is that of the server, without a slash at the end. */
async function checkPage(url: string): Promise<Finding> {
  const html = await loadPage(`${url}/`);
  const forward = `Forward ${url} and all paths below it to the server at the proxy.`;
  if (html === undefined) return warning(`The page cannot be loaded from ${url}/.`, forward);
  const files = filesIn(html, `${url}/`);
  const outside = files.find((file) => !file.startsWith(`${url}/`));
  if (outside !== undefined) {
    const found = `The page at ${url}/ loads ${outside}, which is outside of that URL: the page stays empty.`;
    return bad(found, `Set POPROOM_PUBLIC_URL=${url} for the server, and restart it.`);
  }
  const script = files.find((file) => file.endsWith('.js'));
  if (script !== undefined && !(await isScript(script)))
    return bad(`The page at ${url}/ cannot load ${script}: the page stays empty.`, forward);
  const { pathname } = new URL(url);
  if (pathname !== '/' && (await loadPage(url)) === undefined)
    return warning(`${url} without a slash at the end does not lead to the page.`, forward);
  if (pathname !== '/' && (await loadPage(`${url}${pathname}/`)) !== undefined) {
    const found = `The proxy removes ${pathname}, and the server accepts it again: rules of the proxy can be evaded.`;
    return warning(found, 'Set POPROOM_PATH_REMOVED=true for the server, and restart it.');
  }
  return ok('The page and its scripts can be loaded.');
}

/** Undefined for other pages, such as the sign-in page of a proxy. */
async function loadPage(url: string): Promise<string | undefined> {
  const response = await get(url);
  const html = await response?.text().catch(() => '');
  return response?.ok && html?.includes('<meta name="poproom-limits"') ? html : undefined;
}

/** The URLs of the files that the page loads. */
function filesIn(html: string, base: string): string[] {
  const values = [...html.matchAll(/<(?:link|script)\b[^>]*? (?:href|src)="([^"]+)"/g)].map(([, value = '']) => value);
  return values.filter((value) => URL.canParse(value, base)).map((value) => new URL(value, base).href);
}

/** A proxy may answer unknown paths with a page of its own. */
async function isScript(url: string): Promise<boolean> {
  const response = await get(url);
  await response?.body?.cancel();
  return response?.ok === true && /javascript/.test(response.headers.get('Content-Type') ?? '');
}

/** From the range reserved for documentation: no client has it, so its limit is unused. */
const forgedAddress = () => `203.0.113.${1 + Math.floor(Math.random() * 254)}`;

/** Checks that the server sees the addresses of clients behind a proxy, and does not accept forged ones. */
async function checkProxy(url: string, response: Response, config: Partial<Config>): Promise<Finding[]> {
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
    const response = await fetch(`${url}/livez`, { headers, signal: AbortSignal.timeout(timeoutMs) });
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

/** Buffered events can only be recognized by their absence. */
const roomTimeoutMs = 8000;
/** More would take long, and proxies that limit bodies usually allow less. */
const maxTestBytes = 10 * 1024 ** 2;

type RoomCheck = { url: string; room: Room; config: Partial<Config>; headers: Record<string, string> };

/** Uses a temporary room as clients do, to find out what a proxy blocks. Deletes the room at the end. */
async function checkRoom(url: string, context: DoctorContext, config: Partial<Config>): Promise<Finding[]> {
  const { apiKey, createPassword } = context;
  const client = createClient({ url, apiKey, createPassword });
  try {
    // If the command is killed, the room expires soon.
    const room = await client.createRoom({ expiresIn: 60 });
    try {
      const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
      const used: RoomCheck = { url, room, config, headers };
      const [live, events] = await Promise.all([checkSocket(used), checkEvents(used)]);
      // Afterwards, because the upload would delay the others on a slow connection.
      return [forCheck('live', live), forCheck('events', events), ...(await checkFile(used))];
    } finally {
      await room.delete().catch(() => undefined);
    }
  } catch (error) {
    return [noRoomFinding(error)];
  }
}

function noRoomFinding(error: unknown): Finding {
  const { code, message } = error as PoproomError;
  const found = `Cannot create a room for the checks: ${message.replace(/\.$/, '')}.`;
  if (code === 'API_KEY_REQUIRED' || code === 'SIGN_IN_REQUIRED')
    return warning(found, 'Set POPROOM_API_KEY for this command.');
  if (code === 'PASSWORD_REQUIRED' || code === 'PASSWORD_INCORRECT')
    return warning(found, 'Set POPROOM_CREATE_PASSWORD for this command.');
  if (code === 'RATE_LIMITED') return warning(found, 'Try again later, or set POPROOM_API_KEY for this command.');
  return bad(found, 'Check the log of the server.');
}

async function checkFile({ url, room, config }: RoomCheck): Promise<Finding[]> {
  // An older server does not state its limit, which was 10 MiB.
  const limit = ((await room.info()) as Partial<RoomInfo>).limits?.fileBytes ?? maxTestBytes;
  const size = Math.min(limit, maxTestBytes);
  // In parts, it would pass a proxy that accepts only small bodies. A stream is sent in one request.
  const stream = new Blob([new Uint8Array(size)]).stream();
  try {
    const { fileUrl } = await room.upload(stream, { name: 'poproom-doctor.bin' });
    return [
      forCheck('uploads', ok(`Files of ${formatBytes(size)} can be uploaded.`)),
      forCheck('links', await checkLink(url, fileUrl, config)),
    ];
  } catch (error) {
    const found = `A file of ${formatBytes(size)} cannot be uploaded: ${(error as Error).message}`;
    // For the largest file, and the rest of its form.
    const megabytes = Math.floor(limit / 1024 ** 2) + 1;
    const fix = `Allow bodies of ${megabytes} MB at the proxy; in nginx: client_max_body_size ${megabytes}m`;
    return [forCheck('uploads', bad(found, fix))];
  }
}

/** The server builds links from its settings, or from the headers of the proxy. */
async function checkLink(url: string, link: string, { filesUrl, publicUrl }: Partial<Config>): Promise<Finding> {
  const base = link.replace(filesUrl === undefined ? /\/files\/[^/]+\/[^/]+$/ : /\/[^/]+\/[^/]+$/, '');
  const [expected, actual] = [filesUrl ?? publicUrl ?? url, base].map(serverIdOf);
  if (actual !== expected) {
    const fix = `Set POPROOM_PUBLIC_URL=${publicUrl ?? url} for the server, and restart it.`;
    return bad(`Links point to ${actual}, but clients use ${expected}.`, fix);
  }
  const request = fetch(link, { method: 'HEAD', signal: AbortSignal.timeout(roomTimeoutMs) });
  const response = await request.catch(() => undefined);
  if (response?.ok) return ok(`Links point to ${actual} and work.`);
  const fix = 'Check POPROOM_PUBLIC_URL and DNS.';
  return warning(`Links point to ${actual}, which does not respond to this machine.`, fix);
}

async function checkSocket({ url, room, headers }: RoomCheck): Promise<Finding> {
  const address = `${url.replace(/^http/, 'ws')}/api/rooms/${room.code}/live`;
  // A Node extension: the standard has no headers.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  const { promise: opened, resolve } = Promise.withResolvers<boolean>();
  const fail = () => resolve(false);
  const timer = setTimeout(fail, roomTimeoutMs);
  Object.assign(socket, { onmessage: () => resolve(true), onerror: fail, onclose: fail });
  socket.onopen = () => socket.send(JSON.stringify({ type: 'join' }));
  const isOpen = await opened;
  clearTimeout(timer);
  socket.close();
  if (isOpen) return ok('The live channel (WebSocket) works.');
  const fix = 'Forward the Upgrade and Connection headers at the proxy; see docs/operations.md.';
  return bad('The live channel (WebSocket) is blocked: devices do not see changes.', fix);
}

async function checkEvents({ url, room, headers }: RoomCheck): Promise<Finding> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(roomTimeoutMs)]);
  try {
    const response = await fetch(`${url}/api/rooms/${room.code}/events`, { headers, signal, redirect: 'error' });
    const first = await response.body?.getReader().read();
    if (response.ok && first?.value) return ok('Events (SSE) arrive without buffering.');
  } catch {
    // Reported below, as events that do not arrive.
  } finally {
    done.abort();
  }
  const fix = 'Disable buffering at the proxy; in nginx: proxy_buffering off';
  return warning('Events (SSE) do not arrive, or are buffered.', fix);
}
