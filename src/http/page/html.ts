/** The HTML documents, with the limits of this server and their security headers: the page, the documentation, and the page for operators. */
import type { PageLimits } from '../../protocol/limits.ts';
import { compressedFile, type PageFile } from '../response/reply.ts';
import { basePathOf, type LinkSettings } from '../urls.ts';
import { fillPhrases, limitPhrases, type ServerLimits } from './server-limits.ts';

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

interface PageValues {
  view: View;
  limits: PageLimits;
  /** For browsers on the server itself, whose own URL (localhost) does not work on other devices. */
  address: string;
  publicUrl: string | undefined;
  /** The URL of the server, in the page of `poproom ui`. */
  server: string | undefined;
}

export function filledPage(built: string, { view, limits, address, publicUrl, server }: PageValues): string {
  const tag = html`<meta name="poproom-limits" content="${JSON.stringify(limits)}">`;
  const where = html`<meta name="poproom-address" content="${address}">`;
  return (
    underBasePath(built, publicUrl)
      .replace(limitsTag, () => tag.html)
      .replace(addressTag, () => where.html)
      .replace(serverTag, (tag) =>
        server === undefined ? tag : html`<meta name="poproom-server" content="${server}">`.html,
      )
      // The page of a random port cannot be installed.
      .replace(manifestTag, (tag) => (server === undefined ? tag : ''))
      .replace(viewLink, (link, of: string) => (neededViews[view].includes(of) ? link : ''))
      // Link previews need an absolute URL.
      .replace(imageTag, (_, path: string) =>
        publicUrl === undefined ? '' : html`<meta property="og:image" content="${publicUrl + path}">`.html,
      )
  );
}

/** Makes the links of a built page lead to this server, which is not always at the root of its host. */
function underBasePath(built: string, publicUrl: string | undefined): string {
  const basePath = escapeMarkup(basePathOf(publicUrl));
  return basePath === '' ? built : built.replace(/ (href|src)="\//g, (_, name) => ` ${name}="${basePath}/`);
}

/** `isForwarded`: other paths of this origin have responses of another server, and must not contain scripts. */
export function pageHeaders({ filesUrl, publicUrl }: LinkSettings, isForwarded: boolean): Record<string, string> {
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
export interface HtmlDocument {
  headers: Record<string, string>;
  file: PageFile;
}

/**
 * The API documentation, with the limits of this server and its public URL in the examples. It is one document for every
 * host name, which clients can invent. Without a public URL, its script inserts its own URL.
 */
export async function createDocs(
  built: string,
  limits: ServerLimits,
  publicUrl: string | undefined,
): Promise<HtmlDocument> {
  const page = fillPhrases(underBasePath(built, publicUrl), limitPhrases(limits), escapeMarkup);
  const filled = publicUrl === undefined ? page : page.replaceAll(exampleBase, () => escapeMarkup(publicUrl));
  const headers = { 'Content-Security-Policy': inlinePolicy(filled) };
  return { headers, file: await compressedFile(filled, headers) };
}

/** The URL in the examples of the built page. */
const exampleBase = 'http://localhost:8080';

/** The page for operators. It sends the token only to this server. */
export async function createAdminPage(built: string): Promise<HtmlDocument> {
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
