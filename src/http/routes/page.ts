/** Hands out the page. What stands at its addresses is one and the same: the page itself looks at where it is. */
import { PoproomError } from '../../core/errors.ts';
import type { PageFile, PageFiles } from '../page/files.ts';
import { pickEncoding } from '../request/accept-encoding.ts';
import { header, type Request } from '../request/request.ts';
import { isNamedBy } from '../request/versions.ts';
import type { Reply } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

type PageService = Pick<Service, 'page' | 'links'>;

interface PageHandlers {
  home: Handler;
  roomPage: Handler;
  sharePage: Handler;
  pageAsset: Handler;
}

export function pageHandlers(service: PageService): PageHandlers {
  const files = readOnce(service);
  const page = servePage(files, {});
  // Their addresses are somebody's own.
  const unlisted = servePage(files, { 'X-Robots-Tag': 'noindex' });
  return { home: page, roomPage: unlisted, sharePage: unlisted, pageAsset: serveAsset(files) };
}

/** At the first request of the page, so that a start does not wait for it; anew where that failed. */
function readOnce(service: PageService): () => Promise<PageFiles> {
  let reading: Promise<PageFiles> | undefined;
  return () => {
    reading ??= read(service).catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

async function read({ page, links }: PageService): Promise<PageFiles> {
  const { loadPageFiles } = await import('../page/files.ts');
  const files = await loadPageFiles(page, links);
  if (files) return files;
  throw new PoproomError('NOT_FOUND', 'The page was not built: run "npm run build". The API is described at /docs.');
}

function servePage(files: () => Promise<PageFiles>, own: Record<string, string>): Handler {
  return async (request) => {
    const { html, htmlHere, htmlHeaders } = await files();
    return replyWith(request, isHere(request) ? htmlHere : html, {
      'Content-Type': types.html,
      'Cache-Control': 'no-cache',
      ...htmlHeaders,
      ...own,
    });
  };
}

/**
 * Whether the page is opened on the machine that serves it: a name alone can be made up. A proxy on this machine may
 * call the server localhost for everyone, but says for whom it asks, or speaks HTTP/1.0.
 */
const isHere = ({ raw: { headers, httpVersion, socket } }: Request): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(headers.host ?? '') &&
  /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') &&
  httpVersion === '1.1' &&
  !proxyHeaders.some((name) => headers[name] !== undefined);

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

function serveAsset(files: () => Promise<PageFiles>): Handler {
  return async (request) => {
    const { name = '' } = request.params;
    const file = (await files()).assets.get(name);
    if (!file) throw new PoproomError('NOT_FOUND', 'The page has no such file.');
    return replyWith(request, file, assetHeaders(name));
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

/** As web/vite.config.ts names what it builds. */
const hashed = /\.[0-9a-f]{12}\.\w+$/;

function assetHeaders(name: string): Record<string, string> {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return {
    'Content-Type': types[ending as keyof typeof types] ?? 'application/octet-stream',
    'Cache-Control': hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    // It lies among the assets and is to serve the whole page.
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
