/**
 * The server of `poproom ui`: the built page on this machine, whose requests it forwards to a Poproom server. Only one
 * browser of this user may use it, which has opened the link with the token.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen, trackConnections } from '../http/connections.ts';
import { html } from '../http/page/page-files.ts';
import type { ServerLimits } from '../http/page/server-limits.ts';
import type { PageSource } from '../http/page/source.ts';
import { framingError, pathOf, queryOf } from '../http/request/request.ts';
import { fixedHeaders, json, linesOf, type Reply } from '../http/response/reply.ts';
import { endWith, send } from '../http/response/send.ts';
import { createRouter } from '../http/router.ts';
import { createErrorPage, createPageReader, isForPeople, pageHandlers } from '../http/routes/page-handlers.ts';
import type { Endpoint } from '../protocol/endpoints/endpoint.ts';
import { pageEndpoints } from '../protocol/endpoints/service-endpoints.ts';
import { type EndpointName, endpoints } from '../protocol/endpoints.ts';
import { createForwarder, type Forwarder, type ForwarderDeps, type Target } from './forward.ts';
import type { PageValues } from './values.ts';

interface LocalPageDeps extends ForwarderDeps {
  page: PageSource;
  limits: ServerLimits;
  /** The URL of the server in links for other devices. */
  shareUrl: string;
  /** 0 for any free port. */
  port: number;
  /** The path of the first view, such as `/r/7KQ2MX`. */
  startPath: string;
  values: PageValues;
  /** Called when someone opens the link a second time, or with another token. */
  onRefusedToken(): void;
}

const maxConnections = 200;
const maxValuesBytes = 16 * 1024 * 1024;
/** Open requests have no more time than this when the command ends. */
const closeWithinMs = 500;

export async function startLocalPage(deps: LocalPageDeps) {
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({
    // Two Hosts become one that is not ours.
    joinDuplicateHeaders: true,
    headersTimeout: 15_000,
    // An upload may take hours.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
  });
  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    if (isOfOtherUser(socket)) socket.destroy();
  });
  const closeConnections = trackConnections(server);
  const port = await listen(server, { port: deps.port, host: '127.0.0.1' });
  const access = createAccess(port, deps.startPath);
  const forwarder = createForwarder(deps);
  serve(server, access, forwarder, deps, `http://127.0.0.1:${port}${access.basePath}`);
  return {
    /** Opens the page in one browser. */
    link: access.openingLink,
    async close() {
      forwarder.close();
      await closeConnections(closeWithinMs);
    },
  };
}

function serve(server: Server, access: Access, forwarder: Forwarder, deps: LocalPageDeps, ownUrl: string): void {
  const { page: source, limits, shareUrl, server: url, values, onRefusedToken } = deps;
  const links = { publicUrl: ownUrl, filesUrl: undefined, trustedProxies: new BlockList() };
  // The documentation and the admin page are those of the server. The page works only while the command runs.
  const ownParts: PageSource = async () => new Map([...(await source())].filter(([path]) => !serverParts.test(path)));
  const page = createPageReader({ source: ownParts, limits, address: () => shareUrl, server: url }, links);
  const pages = pageHandlers({ page, links });
  const errorPage = createErrorPage(page);

  async function answer(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(raw.url ?? '');
    if (framingError(raw)) return sendReply(raw, response, { ...refused, status: 400 });
    if (!access.isOwnHost(raw)) return sendReply(raw, response, refused);
    if (path === openingPath) return sendReply(raw, response, opening(raw));
    const inner = innerPath(path, access);
    if (inner === undefined || !access.isFromPage(raw)) return sendReply(raw, response, refused);
    if (inner === '/stored-values') return sendReply(raw, response, await answerValues(raw, values));
    const found = matchPage(raw.method ?? '', inner);
    if (found.kind === 'found') {
      const reply = await pages[found.target]({ raw, params: found.params }).catch(() => notFound);
      return sendReply(raw, response, reply);
    }
    const target = targetOf(raw, inner);
    const forPeople = async (status: number) =>
      isForPeople(raw, inner) ? errorPage(raw, { status, headers: { ...common } }) : undefined;
    if (!target || target.name === 'liveChannel')
      return sendReply(raw, response, (await forPeople(notFound.status)) ?? notFound);
    response.setHeaders(new Map(Object.entries(common)));
    return forwarder.request(raw, response, target, forPeople);
  }

  function opening(raw: IncomingMessage): Reply {
    const reply = access.exchange(raw);
    if (!reply) onRefusedToken();
    return reply ?? refused;
  }

  function upgrade(raw: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const inner = innerPath(pathOf(raw.url ?? ''), access);
    const isAllowed = !framingError(raw) && access.isOwnHost(raw) && inner !== undefined && access.isFromPage(raw);
    const target = isAllowed ? targetOf(raw, inner) : undefined;
    if (target?.name === 'liveChannel') forwarder.upgrade(raw, socket, head, target);
    else endWith(socket, refused, linesOf(common));
  }

  server.on('request', (raw, response) => void answer(raw, response).catch(() => response.destroy()));
  server.on('upgrade', upgrade);
}

/** Sent with every response. */
const common: Record<string, string> = { ...fixedHeaders, 'Cross-Origin-Resource-Policy': 'same-origin' };

const sendReply = (raw: IncomingMessage, response: ServerResponse, reply: Reply) =>
  send({ raw, response, isBodyWithheld: () => false }, reply, { ...common });

const refused: Reply = {
  status: 403,
  headers: {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
  },
  body: 'Open the link that "poproom ui" shows in the terminal. It works once, in one browser. For another link, start the command again.\n',
};

const notFound = json(404, {
  success: false,
  error: { code: 'NOT_FOUND', message: 'The page does not use this path.' },
  requestId: '',
});

/** Undefined if the path is not below that of the page. */
const innerPath = (path: string, { basePath }: Access): string | undefined =>
  path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;

const serverParts = /^(docs|admin)\.html$|^assets\/(service-worker\.js|manifest\.webmanifest)(\.br|\.gz)?$/;

const matchPage = createRouter(
  Object.entries(pageEndpoints).map(([name, page]) => ({ ...page, target: name as keyof typeof pageEndpoints })),
);

/** Only endpoints that a page uses are forwarded. */
const forwardedTags = ['Rooms', 'Text', 'Files'];
const alsoForwarded = ['live', 'getLimits', 'liveChannel'];

const matchForwarded = createRouter(
  Object.entries<Endpoint>(endpoints)
    .filter(([name, { tag }]) => forwardedTags.includes(tag) || alsoForwarded.includes(name))
    .map(([name, endpoint]) => ({ ...endpoint, target: { name: name as EndpointName, pattern: endpoint.path } })),
);

/** The path is written again from its parts, so that the server and a proxy before it read it as it was checked. */
function targetOf({ method = '' }: IncomingMessage, path: string): Target | undefined {
  const found = matchForwarded(method, path);
  if (found.kind !== 'found' || Object.values(found.params).some(isAmbiguous)) return undefined;
  const { name, pattern } = found.target;
  const segment = (_: string, param: string) => encodeURIComponent(found.params[param] ?? '');
  return { name, params: found.params, path: pattern.replace(/:(\w+)/g, segment) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const isAmbiguous = (segment: string) => /^\.{0,2}$|[/\\\x00-\x1f]/.test(segment) || !segment.isWellFormed();

async function answerValues(raw: IncomingMessage, values: PageValues): Promise<Reply> {
  const request = await readJson(raw).catch(() => undefined);
  if (raw.method === 'POST') {
    const opened = await values.open(request);
    if (opened) return json(200, opened);
  }
  if (raw.method === 'PATCH' && values.change(request)) return json(200, {});
  return json(400, {});
}

async function readJson(raw: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of raw) {
    bytes += chunk.length;
    if (bytes > maxValuesBytes) return undefined;
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

type Access = ReturnType<typeof createAccess>;

/** The path that exchanges the token for the cookie. */
const openingPath = '/open';

/** `startPath` is the path of the first view, below that of the page. */
export function createAccess(port: number, startPath: string) {
  // Browsers omit port 80.
  const { host, origin: ownOrigin } = new URL(`http://127.0.0.1:${port}`);
  const [basePath, token, session] = [`/${secret(16)}`, secret(32), secret(32)];
  // Browsers send cookies to all ports of a host.
  const cookieName = `poproom-ui-${port}`;
  let isTokenUsed = false;

  return {
    /** The path of the page. It is random, so that the cookie, which is limited to it, reaches no other port. */
    basePath,
    openingLink: `${ownOrigin}${openingPath}?token=${token}`,

    /** Whether the browser has reached this server by its address. A page of another host name would be DNS rebinding. */
    isOwnHost: ({ headers }: IncomingMessage) => headers.host === host,

    /** Answers the first request with the token with a cookie, and all others with undefined. */
    exchange({ method, url = '' }: IncomingMessage): Reply | undefined {
      if (method !== 'GET' || isTokenUsed || !isSame(queryOf(url).get('token') ?? '', token)) return undefined;
      isTokenUsed = true;
      return openingReply(basePath + startPath, {
        'Set-Cookie': `${cookieName}=${session}; Path=${basePath}/; HttpOnly; SameSite=Strict`,
      });
    },

    /** Whether the request has the cookie and is from the page itself. */
    isFromPage({ method = '', headers }: IncomingMessage): boolean {
      const { origin, cookie = '', upgrade, 'sec-fetch-site': site = 'same-origin' } = headers;
      // The user has typed the URL, or opened it from the history.
      const isOwnSite = site === 'same-origin' || site === 'none';
      // Browsers name the origin of every WebSocket and of every request that may change something.
      const namesOrigin = upgrade !== undefined || !['GET', 'HEAD'].includes(method);
      const isOwnOrigin = origin === ownOrigin || (origin === undefined && !namesOrigin);
      return isOwnSite && isOwnOrigin && isSame(cookieIn(cookie, cookieName), session);
    },
  };
}

const secret = (bytes: number) => randomBytes(bytes).toString('base64url');

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookieIn(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/**
 * Not a redirect: after a click in another site, such as a terminal in the browser, it would be sent without the cookie.
 * Browsers replace a page that leaves immediately in their history, so that the token is not in it.
 */
function openingReply(to: string, headers: Record<string, string>): Reply {
  const { html: body } =
    html`<!doctype html><meta charset="utf-8"><title>Poproom</title><a href="${to}">Open Poproom</a>`;
  return {
    status: 200,
    headers: {
      ...headers,
      Refresh: `0; url=${to}`,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
    },
    body,
  };
}

/**
 * Whether a connection comes from a program of another user of this machine, who can see the token in the list of
 * processes while the browser starts. Only Linux tells; elsewhere the token alone decides.
 */
export function isOfOtherUser({ remotePort = 0, localPort = 0 }: Socket, connections = readConnections()): boolean {
  const [own, root] = [process.getuid?.(), 0];
  const line = new RegExp(`^ *\\d+: ${loopback}:${hex(remotePort)} ${loopback}:${hex(localPort)} .*`, 'm');
  const user = line.exec(connections)?.[0].trim().split(/ +/)[7];
  return user !== undefined && ![own, root].includes(Number(user));
}

/** 127.0.0.1 as the kernel writes it. */
const loopback = '0100007F';
const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

function readConnections(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readFileSync('/proc/net/tcp', 'utf8');
  } catch {
    return '';
  }
}
