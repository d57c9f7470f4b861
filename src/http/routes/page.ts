/** Serves the page and the API documentation. All paths of the page return the same document. */
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import type { PageFile } from '../page/compressed-file.ts';
import type { PageFiles } from '../page/files.ts';
import { pickEncoding } from '../request/accept-encoding.ts';
import { header, type Request } from '../request/request.ts';
import { isNamedBy } from '../request/versions.ts';
import { ownBase } from '../response/links.ts';
import type { Reply } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

type PageService = Pick<Service, 'page' | 'links'>;

interface PageHandlers {
  home: Handler;
  roomPage: Handler;
  sharePage: Handler;
  pageAsset: Handler;
  docs: Handler;
}

export function pageHandlers(service: PageService): PageHandlers {
  // Read at the first request, so that the start does not wait for them.
  const files = loadOnce(() => read(service));
  const page = servePage(files, {});
  // These URLs are private.
  const unlisted = servePage(files, { 'X-Robots-Tag': 'noindex' });
  return {
    home: page,
    roomPage: unlisted,
    sharePage: unlisted,
    pageAsset: serveAsset(files),
    docs: serveDocs(files, service),
  };
}

async function read({ page, links }: PageService): Promise<PageFiles> {
  const { loadPageFiles } = await import('../page/files.ts');
  const files = await loadPageFiles(page, links);
  if (files) return files;
  throw notBuilt();
}

const notBuilt = () => new PoproomError('NOT_FOUND', 'The page has not been built. Run "npm run build".');

function servePage(files: () => Promise<PageFiles>, own: Record<string, string>): Handler {
  return async (request) => {
    const { html, localHtml, htmlHeaders } = await files();
    return replyWith(request, isLocal(request) ? localHtml : html, {
      'Content-Type': types.html,
      'Cache-Control': 'no-cache',
      ...htmlHeaders,
      ...own,
    });
  };
}

/**
 * Whether the browser runs on the same machine. The Host alone can be forged. A proxy on this machine may use
 * localhost for every client, but it adds a header that names the client, or uses HTTP/1.0.
 */
const isLocal = ({ raw: { headers, httpVersion, socket } }: Request): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(headers.host ?? '') &&
  /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') &&
  httpVersion === '1.1' &&
  !proxyHeaders.some((name) => headers[name] !== undefined);

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

function serveAsset(files: () => Promise<PageFiles>): Handler {
  return async (request) => {
    const { name = '' } = request.params;
    const file = (await files()).assets.get(name);
    if (!file) throw new PoproomError('NOT_FOUND', 'This file is not part of the page.');
    return replyWith(request, file, assetHeaders(name));
  };
}

function serveDocs(files: () => Promise<PageFiles>, { links }: PageService): Handler {
  return async (request) => {
    const { docs } = await files();
    if (!docs) throw notBuilt();
    return replyWith(request, await docs.pageFor(ownBase(request, links)), {
      'Content-Type': types.html,
      'Cache-Control': 'no-cache',
      ...docs.headers,
    });
  };
}

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  webmanifest: 'application/manifest+json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
} as const;

/** The pattern of hashed names in web/vite.config.ts. */
const hashed = /\.[0-9a-f]{12}\.\w+$/;

function assetHeaders(name: string): Record<string, string> {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return {
    'Content-Type': types[ending as keyof typeof types] ?? 'application/octet-stream',
    'Cache-Control': hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    // It is served from /assets/ but controls the whole page.
    ...(name === 'service-worker.js' && { 'Service-Worker-Allowed': '/' }),
  };
}

function replyWith({ raw }: Request, { hash, bytes }: PageFile, own: Record<string, string>): Reply {
  const encoding = pickEncoding(header(raw, 'accept-encoding'), (candidate) => bytes.has(candidate));
  const tag = `"${hash}${encoding === 'identity' ? '' : `-${encoding}`}"`;
  const headers = {
    ...own,
    ...(bytes.size > 1 && { Vary: 'Accept-Encoding' }),
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    ETag: tag,
  };
  if (isNamedBy(header(raw, 'if-none-match'), tag)) return { status: 304, headers };
  return { status: 200, headers, body: bytes.get(encoding) as Uint8Array };
}
