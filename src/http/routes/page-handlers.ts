/** Serves what belongs to no room: the page, the documentation, and the state of the server. */
import type { IncomingMessage } from 'node:http';
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { isEncryptedCode, parseRoomId } from '../../protocol/room-code.ts';
import type { HealthReport, Readiness, ServerLimits } from '../../protocol/types.ts';
import type { PageFiles, PageSettings, View } from '../page/page-files.ts';
import { isSameToken, keyOf } from '../request/authorize.ts';
import { header, type Request } from '../request/request.ts';
import { compressedFile, isNamedBy, json, type PageFile, pickEncoding, type Reply } from '../response/reply.ts';
import { basePathOf, type LinkSettings } from '../urls.ts';
import type { Handler, HandlerDeps, Handlers } from './handler.ts';

type ReadPage = HandlerDeps['page'];
/** The part of a request that decides which page is served. */
type PageRequest = Pick<Request, 'raw' | 'params'>;

/** All paths of the page return the same document, with the links of their view. */
export function pageHandlers({ page, links }: Pick<HandlerDeps, 'page' | 'links'>) {
  // These URLs are private.
  const unlisted = { 'X-Robots-Tag': 'noindex' };
  const scope = `${basePathOf(links.publicUrl)}/`;

  async function servePage({ raw }: PageRequest, view: View, own = {}): Promise<Reply> {
    const files = await page();
    return replyWith(raw, htmlFor(raw, files)[view], { ...htmlHeaders, ...files.htmlHeaders, ...own });
  }

  async function serveAsset({ raw }: PageRequest, name: string): Promise<Reply> {
    const file = (await page()).assets.get(name);
    if (!file) throw new PoproomError('NOT_FOUND', 'This file is not part of the page.');
    return replyWith(raw, file, assetHeaders(name, scope));
  }

  async function serveDocument({ raw }: PageRequest, name: 'docs' | 'admin', own = {}): Promise<Reply> {
    const document = (await page())[name];
    if (!document) throw notBuilt();
    return replyWith(raw, document.file, { ...htmlHeaders, ...own, ...document.headers });
  }

  return {
    home: (request: PageRequest) => servePage(request, 'home'),
    roomPage: (request: PageRequest) => servePage(request, viewOfRoom(request), unlisted),
    sharePage: (request: PageRequest) => servePage(request, 'other', unlisted),
    invitePage: (request: PageRequest) => servePage(request, 'other', unlisted),
    pageAsset: (request: PageRequest) => serveAsset(request, request.params.name ?? ''),
    favicon: (request: PageRequest) => serveAsset(request, 'favicon.ico'),
    docs: (request: PageRequest) => serveDocument(request, 'docs'),
    adminPage: (request: PageRequest) => serveDocument(request, 'admin', unlisted),
  };
}

/** Reads the files at the first request, so that the start does not wait for them. */
export function createPageReader(settings: PageSettings, links: LinkSettings): ReadPage {
  return loadOnce(async () => {
    const { loadPageFiles } = await import('../page/page-files.ts');
    const files = await loadPageFiles(settings, links);
    if (files) return files;
    throw notBuilt();
  });
}

const notBuilt = () => new PoproomError('NOT_FOUND', 'The page has not been built. Run "npm run build".');

/** By the code alone, which says nothing about whether the room exists. */
function viewOfRoom({ params }: PageRequest): View {
  const code = parseRoomId(params.roomId ?? '');
  return code && isEncryptedCode(code) ? 'encrypted' : 'room';
}

const htmlFor = (raw: IncomingMessage, { html, localHtml }: PageFiles) => (isLocal(raw) ? localHtml : html);

/** Whether a browser opens this URL in a tab. Programs get errors as JSON, and so does everyone under /api. */
export const isForPeople = ({ method, headers }: IncomingMessage, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers.accept?.includes('text/html') === true &&
  !/^\/(api|assets)(\/|$)/.test(path);

export type ErrorPage = (raw: IncomingMessage, error: Reply) => Promise<Reply>;

/**
 * The page with the status of an error, for people who open a broken link: it shows the error in their language.
 * If the page was not built, they get the error as programs do.
 */
export const createErrorPage =
  (page: ReadPage): ErrorPage =>
  async (raw, error) => {
    const files = await page().catch(() => undefined);
    if (!files) return error;
    const { body, encodingHeaders } = encodedFor(raw, htmlFor(raw, files).other);
    const own = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex', Vary: 'Accept, Accept-Encoding' };
    return {
      ...error,
      headers: { ...error.headers, ...encodingHeaders, ...htmlHeaders, ...files.htmlHeaders, ...own },
      body,
    };
  };

/**
 * Whether the browser runs on the same machine. The Host alone can be forged. A proxy on this machine may use
 * localhost for every client, but it adds a header that names the client, or uses HTTP/1.0.
 */
const isLocal = ({ headers, httpVersion, socket }: IncomingMessage): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(headers.host ?? '') &&
  /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') &&
  httpVersion === '1.1' &&
  !proxyHeaders.some((name) => headers[name] !== undefined);

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  ico: 'image/x-icon',
  webmanifest: 'application/manifest+json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
} as const;

const htmlHeaders = { 'Content-Type': types.html, 'Cache-Control': 'no-cache' };

/** The pattern of hashed names in web/vite.config.ts. */
const hashed = /\.[0-9a-f]{12}\.\w+$/;

/** `scope` is the path of the page. */
function assetHeaders(name: string, scope: string): Record<string, string> {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return {
    'Content-Type': types[ending as keyof typeof types] ?? 'application/octet-stream',
    'Cache-Control': hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    // It is served from /assets/ but controls the whole page.
    ...(name === 'service-worker.js' && { 'Service-Worker-Allowed': scope }),
  };
}

function replyWith(raw: IncomingMessage, file: PageFile, own: Record<string, string>): Reply {
  const { body, tag, encodingHeaders } = encodedFor(raw, file);
  const headers = { ...own, ...encodingHeaders, ETag: tag };
  return isNamedBy(header(raw, 'if-none-match'), tag) ? { status: 304, headers } : { status: 200, headers, body };
}

/** The file in the encoding that the browser prefers. */
function encodedFor(raw: IncomingMessage, { hash, bytes }: PageFile) {
  const encoding = pickEncoding(header(raw, 'accept-encoding'), (candidate) => bytes.has(candidate));
  return {
    body: bytes.get(encoding) as Uint8Array,
    tag: `"${hash}${encoding === 'identity' ? '' : `-${encoding}`}"`,
    encodingHeaders: {
      ...(bytes.size > 1 && { Vary: 'Accept-Encoding' }),
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    },
  };
}

export const operationHandlers = (deps: HandlerDeps) => {
  const { probes, serverLimits, storedBytes, metrics, metricsToken, links } = deps;
  return {
    async health() {
      const { healthy, now, uptime } = await probes.health();
      const status = healthy ? 'healthy' : 'degraded';
      return json(healthy ? 200 : 503, { status, timestamp: toTimestamp(now), uptime } satisfies HealthReport);
    },

    getLimits: async ({ client }) =>
      json(200, { ...serverLimits, storedBytes: await storedBytes(client) } satisfies ServerLimits),

    /** The committed document with the URL and the limits of this server. */
    openapi: documentHandler(async () => {
      const { default: document } = await import('../../../openapi.json', { with: { type: 'json' } });
      const servers = document.servers.map((server) => ({ ...server, url: links.publicUrl ?? server.url }));
      return { ...document, servers, 'x-limits': serverLimits };
    }),

    asyncapi: documentHandler(async () => {
      const { default: document } = await import('../../../asyncapi.json', { with: { type: 'json' } });
      if (links.publicUrl === undefined) return document;
      return { ...document, servers: serversAt(links.publicUrl, document.servers) };
    }),

    live: () => json(200, { status: 'ok' }),

    async ready() {
      const { ready, checks } = await probes.ready();
      return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks } satisfies Readiness);
    },

    async metrics({ raw }) {
      if (!metrics) throw new PoproomError('NOT_FOUND', metricsDisabled);
      if (metricsToken !== undefined) checkToken(keyOf(raw), metricsToken);
      const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };
      return { status: 200, headers, body: await metrics() };
    },

    /** Private pages have a header for robots. They must be able to read it, so only the API is refused. */
    robots() {
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' };
      return { status: 200, headers, body: `User-agent: *\nDisallow: ${serverLimits.demo ? '/' : '/api/'}\n` };
    },
  } satisfies Partial<Handlers>;
};

const metricsDisabled = 'Metrics are disabled. The operator can enable them with POPROOM_METRICS=true.';

function checkToken(given: string | undefined, token: string): void {
  if (given === undefined)
    throw new PoproomError('API_KEY_REQUIRED', 'Send the token of the metrics as Authorization: Bearer TOKEN.');
  if (!isSameToken(given, token)) throw new PoproomError('INVALID_API_KEY', 'This is not the token of the metrics.');
}

/** The servers of the AsyncAPI document at the URL of this one. */
function serversAt(publicUrl: string, servers: Record<string, { protocol: string }>): object {
  const { host, protocol, pathname } = new URL(publicUrl);
  const secure = protocol === 'https:' ? 's' : '';
  const here = { host, ...(pathname !== '/' && { pathname }) };
  const moved = Object.entries(servers).map(([name, server]) => {
    return [name, { ...server, protocol: server.protocol + secure, ...here }];
  });
  return Object.fromEntries(moved);
}

/** Serializes and compresses the document once. */
function documentHandler(load: () => Promise<unknown>): Handler {
  const read = loadOnce(async () => compressedFile(JSON.stringify(await load()), {}));
  return async ({ raw }) => {
    const { body, encodingHeaders } = encodedFor(raw, await read());
    return { ...json(200, {}, encodingHeaders), body };
  };
}
