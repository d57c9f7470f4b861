/** The files of the page, read into memory once. They are few and small, and no request determines a path. */
import { compressedFile, type Encoding, hashOf, type PageFile } from '../response/reply.ts';
import type { LinkSettings } from '../urls.ts';
import { createAdminPage, createDocs, filledPage, type HtmlDocument, pageHeaders, type View } from './html.ts';
import { pageLimitsOf, type ServerLimits } from './server-limits.ts';
import type { PageSource } from './source.ts';

export interface PageSettings {
  source: PageSource;
  limits: ServerLimits;
  /** The URL by which other devices reach this server; undefined if unknown. */
  address: () => string | undefined;
  /** The URL of the server to which `poproom ui` forwards the requests of the page. */
  server?: string;
}

export interface PageFiles {
  html: Record<View, PageFile>;
  /** For browsers on the server itself. Only these receive its address in the local network. */
  localHtml: Record<View, PageFile>;
  htmlHeaders: Record<string, string>;
  /** By name under /assets/. */
  assets: Map<string, PageFile>;
  /** The API documentation; undefined if it was not built. */
  docs: HtmlDocument | undefined;
  /** The page for operators; undefined if it was not built. */
  admin: HtmlDocument | undefined;
}

/** Undefined if the page was not built. */
export async function loadPageFiles(settings: PageSettings, links: LinkSettings): Promise<PageFiles | undefined> {
  const contents = await settings.source();
  const [html, docs, admin] = ['index.html', 'docs.html', 'admin.html'].map((name) => textOf(contents.get(name)));
  if (html === undefined) return undefined;
  return {
    ...(await fillPage(html, settings, links)),
    assets: assetsIn(contents),
    docs: docs === undefined ? undefined : await createDocs(docs, settings.limits, links.publicUrl),
    admin: admin === undefined ? undefined : await createAdminPage(admin),
  };
}

const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

type FilledPage = Pick<PageFiles, 'html' | 'localHtml' | 'htmlHeaders'>;

async function fillPage(built: string, settings: PageSettings, links: LinkSettings): Promise<FilledPage> {
  const { address, server } = settings;
  const limits = pageLimitsOf(settings.limits);
  const htmlHeaders = pageHeaders(links, server !== undefined);
  const { publicUrl } = links;
  const filled = async (view: View, where: string) =>
    compressedFile(filledPage(built, { view, limits, address: where, publicUrl, server }), htmlHeaders);
  const forViews = async (where: string) => ({
    home: await filled('home', where),
    room: await filled('room', where),
    encrypted: await filled('encrypted', where),
    other: await filled('other', where),
  });
  return { html: await forViews(''), localHtml: await forViews(address() ?? ''), htmlHeaders };
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
