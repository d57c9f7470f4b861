/** The files of the page, read into memory once: they are few and small, and no path is built from a request. */
import type { Encoding } from './accept-encoding.ts';
import type { LinkSettings } from './links.ts';
import { filledPage, type PageLimits, pageHeaders } from './page-html.ts';

export interface PageSettings {
  /** Where `npm run build` puts the page. */
  folder: URL;
  limits: PageLimits;
  /** How other devices reach this server; undefined where that is not known. */
  address: () => string | undefined;
}

export interface PageFile {
  /** Changes when the file does; the same for all its encodings. */
  hash: string;
  bytes: Map<Encoding, Uint8Array>;
}

export interface PageFiles {
  html: PageFile;
  /** For those at the server itself. Nobody else is told its address in its own network. */
  htmlHere: PageFile;
  htmlHeaders: Record<string, string>;
  /** By their names under /assets/. */
  assets: Map<string, PageFile>;
}

const { readdir, readFile } = process.getBuiltinModule('node:fs/promises');
const { createHash } = process.getBuiltinModule('node:crypto');

/** Undefined where the page was not built. */
export async function loadPageFiles(settings: PageSettings, links: LinkSettings): Promise<PageFiles | undefined> {
  try {
    return await readPage(settings, links);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readPage({ folder, limits, address }: PageSettings, links: LinkSettings): Promise<PageFiles> {
  const built = await readFile(new URL('index.html', folder), 'utf8');
  const htmlHeaders = pageHeaders(links);
  const filled = (where: string) => compressed(Buffer.from(filledPage(built, limits, where)), htmlHeaders);
  const assets = await readAssets(new URL('assets/', folder));
  return { html: filled(''), htmlHere: filled(address() ?? ''), htmlHeaders, assets };
}

const suffixes = { br: '.br', gzip: '.gz' } as const;

async function readAssets(folder: URL): Promise<Map<string, PageFile>> {
  const names = await readdir(folder);
  const contents = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, folder))] as const)),
  );
  const own = names.filter((name) => !/\.(br|gz)$/.test(name));
  return new Map(own.map((name) => [name, fileOf(name, contents)]));
}

function fileOf(name: string, contents: ReadonlyMap<string, Uint8Array>): PageFile {
  const identity = contents.get(name) as Uint8Array;
  const bytes = new Map<Encoding, Uint8Array>([['identity', identity]]);
  for (const [encoding, suffix] of Object.entries(suffixes)) {
    const smaller = contents.get(name + suffix);
    if (smaller) bytes.set(encoding as Encoding, smaller);
  }
  return { hash: hashOf(identity), bytes };
}

/** The one file that the build cannot compress, because the server writes into it. A changed policy is a change of it. */
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
