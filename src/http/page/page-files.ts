/**
 * The files of the page, read into memory once, with the limits of this server and their security headers: the page, the
 * documentation, and the page for operators. They are few and small, and no request determines a path.
 */
import { compressedFile, type Encoding, hashOf, type PageFile } from '../response/reply.ts';
import { basePathOf, type LinkSettings } from '../urls.ts';
import { fillPhrases, limitPhrases, pageLimitsOf, type ServerLimits } from './server-limits.ts';
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
  /** The API documentation and the page for operators; undefined if they were not built. */
  docs: HtmlDocument | undefined;
  admin: HtmlDocument | undefined;
}

/** Undefined if the page was not built. */
export async function loadPageFiles(settings: PageSettings, links: LinkSettings): Promise<PageFiles | undefined> {
  const contents = await settings.source();
  const [page, docs, admin] = ['index.html', 'docs.html', 'admin.html'].map((name) => textOf(contents.get(name)));
  if (page === undefined) return undefined;
  return {
    ...(await fillPage(page, settings, links)),
    assets: assetsIn(contents),
    docs: docs === undefined ? undefined : await createDocs(docs, settings.limits, links.publicUrl),
    admin: admin === undefined ? undefined : await createAdminPage(admin),
  };
}

const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

async function fillPage(built: string, settings: PageSettings, links: LinkSettings) {
  const htmlHeaders = pageHeaders(links, settings.server !== undefined);
  const page = filledPage(built, settings, links.publicUrl);
  const filled = (view: View, where: string) => compressedFile(pageOfView(page, view, where), htmlHeaders);
  const forViews = async (where: string) => ({
    home: await filled('home', where),
    room: await filled('room', where),
    encrypted: await filled('encrypted', where),
    other: await filled('other', where),
  });
  return { html: await forViews(''), localHtml: await forViews(settings.address() ?? ''), htmlHeaders };
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

const limitsTag = /<meta name="poproom-limits" content=(?:'[^']*'|"[^"]*")>/;
const imageTag = /<meta property="og:image" content="([^"]*)">/;
const serverTag = /<meta name="poproom-server" content="">/;
const manifestTag = /\s*<link rel="manifest"[^>]*>/;
const addressTag = /<meta name="poproom-address" content="">/;
/** A link that preloads the code or the style of a view. */
const viewLink = /\s*<link [^>]*data-view="(\w+)"[^>]*>/g;

/** The view that the page shows first. `other` needs no more than every page. */
export type View = 'home' | 'room' | 'encrypted' | 'other';

/** The views whose code each of them needs. */
const neededViews: Record<View, readonly string[]> = {
  home: ['home'],
  room: ['room'],
  encrypted: ['room', 'encrypted'],
  other: [],
};

function filledPage(built: string, { limits, server }: PageSettings, publicUrl: string | undefined): string {
  const tag = html`<meta name="poproom-limits" content="${JSON.stringify(pageLimitsOf(limits))}">`;
  return (
    underBasePath(built, publicUrl)
      .replace(limitsTag, () => tag.html)
      .replace(serverTag, (tag) =>
        server === undefined ? tag : html`<meta name="poproom-server" content="${server}">`.html,
      )
      // The page of a random port cannot be installed.
      .replace(manifestTag, (tag) => (server === undefined ? tag : ''))
      // Link previews need an absolute URL.
      .replace(imageTag, (_, path: string) =>
        publicUrl === undefined ? '' : html`<meta property="og:image" content="${publicUrl + path}">`.html,
      )
  );
}

/** `address` is for browsers on the server itself, whose own URL (localhost) does not work on other devices. */
function pageOfView(page: string, view: View, address: string): string {
  const where = html`<meta name="poproom-address" content="${address}">`;
  return page
    .replace(addressTag, () => where.html)
    .replace(viewLink, (link, of: string) => (neededViews[view].includes(of) ? link : ''));
}

/** Makes the links of a built page lead to this server, which is not always at the root of its host. */
function underBasePath(built: string, publicUrl: string | undefined): string {
  const basePath = escapeMarkup(basePathOf(publicUrl));
  return basePath === '' ? built : built.replace(/ (href|src)="\//g, (_, name) => ` ${name}="${basePath}/`);
}

/** `isForwarded`: other paths of this origin have responses of another server, and must not contain scripts. */
function pageHeaders({ filesUrl, publicUrl }: LinkSettings, isForwarded: boolean): Record<string, string> {
  const scripts = isForwarded ? `${publicUrl}/assets/` : "'self'";
  return {
    'Content-Security-Policy': pagePolicy(filesUrl ?? publicUrl, scripts),
    // Prevents other pages from keeping a reference to the window of a room.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': permissions,
  };
}

/** `web-share` is allowed by default, and browsers without it would log a warning. */
const permissions = 'camera=(self), clipboard-read=(self), clipboard-write=(self), microphone=(), geolocation=()';

/** Previews in a room are loaded from the files URL, which may have a different origin. */
function pagePolicy(filesFrom: string | undefined, scripts: string): string {
  const files = filesFrom === undefined ? '' : ` ${new URL(filesFrom).origin}`;
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${scripts}`,
    // blob: is for the camera, and for files before their upload.
    `img-src 'self' blob:${files}`,
    `media-src 'self' blob:${files}`,
    // For PDF files. All files are sandboxed by their own policy.
    `frame-src 'self'${files}`,
    "connect-src 'self'",
    "manifest-src 'self'",
    `worker-src ${scripts}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The policy creates the URL of the service worker, which may not be a plain string under this rule.
    "require-trusted-types-for 'script'",
    'trusted-types poproom',
  ].join('; ');
}

/** A document with its own script and style, which loads nothing else. */
type HtmlDocument = { headers: Record<string, string>; file: PageFile };

/**
 * The API documentation, with the limits of this server and its public URL in the examples. It is one document for every
 * host name, which clients can invent. Without a public URL, its script inserts its own URL.
 */
async function createDocs(built: string, limits: ServerLimits, publicUrl: string | undefined): Promise<HtmlDocument> {
  const page = fillPhrases(underBasePath(built, publicUrl), limitPhrases(limits), escapeMarkup);
  const filled = publicUrl === undefined ? page : page.replaceAll(exampleBase, () => escapeMarkup(publicUrl));
  const headers = { 'Content-Security-Policy': inlinePolicy(filled) };
  return { headers, file: await compressedFile(filled, headers) };
}

/** The URL in the examples of the built page. */
const exampleBase = 'http://localhost:8080';

/** The page for operators. It sends the token only to this server. */
async function createAdminPage(built: string): Promise<HtmlDocument> {
  const headers = {
    'Content-Security-Policy': inlinePolicy(built, "connect-src 'self'", "form-action 'none'"),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  return { headers, file: await compressedFile(built, headers) };
}

/** Allows only the inline script and style of the document itself, and the icon. No other page can show it in a frame. */
function inlinePolicy(page: string, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(page, 'script')}`,
    `style-src ${hashesOf(page, 'style')}`,
    "img-src 'self'",
    ...more,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The sources of a policy that allow the inline elements of a page. */
function hashesOf(page: string, element: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const contents = page.matchAll(new RegExp(`<${element}\\b[^>]*>(.*?)</${element}>`, 'gs'));
  const hashes = [...contents].map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ') || "'none'";
}

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | readonly Html[];

/** An HTML template. Values are escaped unless they are HTML already. */
export function html(fixed: TemplateStringsArray, ...parts: Part[]): Html {
  return { html: String.raw({ raw: fixed }, ...parts.map(toHtml)) };
}

function toHtml(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeMarkup(String(part));
  return 'html' in part ? part.html : part.map(({ html }) => html).join('');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string);
