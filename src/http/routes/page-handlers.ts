/** Serves the page and the API documentation. All paths return the same document, with the links of their view. */
import type { IncomingMessage } from 'node:http';
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import { isEncryptedCode, parseRoomId } from '../../protocol/room-code.ts';
import type { View } from '../page/html.ts';
import type { PageFiles, PageSettings } from '../page/page-files.ts';
import { header, type Request } from '../request/request.ts';
import { isNamedBy, type PageFile, pickEncoding, type Reply } from '../response/reply.ts';
import { basePathOf, type LinkSettings } from '../urls.ts';
import type { HandlerDeps } from './handler.ts';

type PageDeps = Pick<HandlerDeps, 'page' | 'links'>;
type ReadPage = HandlerDeps['page'];

/** The part of a request that decides which page is served. */
type PageRequest = Pick<Request, 'raw' | 'params'>;
type PageHandler = (request: PageRequest) => Promise<Reply>;

interface PageHandlers {
  home: PageHandler;
  roomPage: PageHandler;
  sharePage: PageHandler;
  invitePage: PageHandler;
  pageAsset: PageHandler;
  favicon: PageHandler;
  docs: PageHandler;
  adminPage: PageHandler;
}

export function pageHandlers({ page, links }: PageDeps): PageHandlers {
  // These URLs are private.
  const unlisted = { 'X-Robots-Tag': 'noindex' };
  const scope = `${basePathOf(links.publicUrl)}/`;
  return {
    home: servePage(page, () => 'home', {}),
    roomPage: servePage(page, viewOfRoom, unlisted),
    sharePage: servePage(page, () => 'other', unlisted),
    invitePage: servePage(page, () => 'other', unlisted),
    pageAsset: (request) => serveAsset(request, page, request.params.name ?? '', scope),
    favicon: (request) => serveAsset(request, page, 'favicon.ico', scope),
    docs: serveDocs(page),
    adminPage: serveAdmin(page),
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

type ViewOf = (request: Parameters<PageHandler>[0]) => View;

/** By the code alone, which says nothing about whether the room exists. */
const viewOfRoom: ViewOf = ({ params }) => {
  const code = parseRoomId(params.roomId ?? '');
  return code && isEncryptedCode(code) ? 'encrypted' : 'room';
};

function servePage(page: ReadPage, viewOf: ViewOf, own: Record<string, string>): PageHandler {
  return async (request) => {
    const files = await page();
    const html = htmlFor(request.raw, files)[viewOf(request)];
    return replyWith(request.raw, html, { ...htmlHeaders(files), ...own });
  };
}

const htmlFor = (raw: IncomingMessage, { html, localHtml }: PageFiles) => (isLocal(raw) ? localHtml : html);

const htmlHeaders = (files: PageFiles) => ({
  'Content-Type': types.html,
  'Cache-Control': 'no-cache',
  ...files.htmlHeaders,
});

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
    return { ...error, headers: { ...error.headers, ...encodingHeaders, ...htmlHeaders(files), ...own }, body };
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

async function serveAsset({ raw }: PageRequest, page: ReadPage, name: string, scope: string): Promise<Reply> {
  const file = (await page()).assets.get(name);
  if (!file) throw new PoproomError('NOT_FOUND', 'This file is not part of the page.');
  return replyWith(raw, file, assetHeaders(name, scope));
}

function serveDocs(page: ReadPage): PageHandler {
  return async ({ raw }) => {
    const { docs } = await page();
    if (!docs) throw notBuilt();
    return replyWith(raw, docs.file, { 'Content-Type': types.html, 'Cache-Control': 'no-cache', ...docs.headers });
  };
}

function serveAdmin(page: ReadPage): PageHandler {
  return async ({ raw }) => {
    const { admin } = await page();
    if (!admin) throw notBuilt();
    const own = { 'Content-Type': types.html, 'Cache-Control': 'no-cache', 'X-Robots-Tag': 'noindex' };
    return replyWith(raw, admin.file, { ...own, ...admin.headers });
  };
}

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
