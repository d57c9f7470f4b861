/** The files of the page, read into memory once. They are few and small, and no request determines a path. */
import type { Encoding } from '../request/accept-encoding.ts';
import type { LinkSettings } from '../response/links.ts';
import { filledPage, type PageLimits, pageHeaders } from './html.ts';
import type { PageSource } from './source.ts';

export interface PageSettings {
  source: PageSource;
  limits: PageLimits;
  /** The URL by which other devices reach this server; undefined if unknown. */
  address: () => string | undefined;
}

export interface PageFile {
  /** Changes when the file does; the same for all its encodings. */
  hash: string;
  bytes: Map<Encoding, Uint8Array>;
}

export interface PageFiles {
  html: PageFile;
  /** For browsers on the server itself. Only these receive its address in the local network. */
  localHtml: PageFile;
  htmlHeaders: Record<string, string>;
  /** By name under /assets/. */
  assets: Map<string, PageFile>;
}

const { createHash } = process.getBuiltinModule('node:crypto');

/** Undefined if the page was not built. */
export async function loadPageFiles(settings: PageSettings, links: LinkSettings): Promise<PageFiles | undefined> {
  const contents = await settings.source();
  const html = contents.get('index.html');
  return html && { ...fillPage(Buffer.from(html).toString(), settings, links), assets: assetsIn(contents) };
}

function fillPage(built: string, { limits, address }: PageSettings, links: LinkSettings): Omit<PageFiles, 'assets'> {
  const htmlHeaders = pageHeaders(links);
  const filled = (where: string) => compressed(Buffer.from(filledPage(built, limits, where)), htmlHeaders);
  return { html: filled(''), localHtml: filled(address() ?? ''), htmlHeaders };
}

const suffixes = { br: '.br', gzip: '.gz' } as const;
const assetsFolder = 'assets/';

function assetsIn(contents: ReadonlyMap<string, Uint8Array>): Map<string, PageFile> {
  const own = [...contents.keys()].filter((path) => path.startsWith(assetsFolder) && !/\.(br|gz)$/.test(path));
  return new Map(own.map((path) => [path.slice(assetsFolder.length), fileOf(path, contents)]));
}

function fileOf(path: string, contents: ReadonlyMap<string, Uint8Array>): PageFile {
  const identity = contents.get(path) as Uint8Array;
  const bytes = new Map<Encoding, Uint8Array>([['identity', identity]]);
  for (const [encoding, suffix] of Object.entries(suffixes)) {
    const smaller = contents.get(path + suffix);
    if (smaller) bytes.set(encoding as Encoding, smaller);
  }
  return { hash: hashOf(identity), bytes };
}

/** The server fills in this file, so the build cannot compress it. The hash covers its headers too. */
function compressed(identity: Uint8Array, headers: Record<string, string>): PageFile {
  const { brotliCompressSync, gzipSync } = process.getBuiltinModule('node:zlib');
  const bytes = new Map<Encoding, Uint8Array>([
    ['identity', identity],
    ['br', brotliCompressSync(identity)],
    ['gzip', gzipSync(identity)],
  ]);
  return { hash: hashOf(identity, JSON.stringify(headers)), bytes };
}

function hashOf(bytes: Uint8Array, more = ''): string {
  return createHash('sha256').update(bytes).update(more).digest('base64url').slice(0, 22);
}
