/** The page with the limits of this server, and its security headers. */

import { basePathOf } from '../base-path.ts';
import type { LinkSettings } from '../response/links.ts';
import { escapeMarkup, type Html, html } from './html-template.ts';

/** The limits that the page shows. Times are in seconds, sizes in bytes. */
export interface PageLimits {
  roomTtl: number;
  roomMaxTtl: number;
  contentMax: number;
  fileMax: number;
}

const limitsTag = /<meta name="poproom-limits" content=(?:'[^']*'|"[^"]*")>/;

const imageTag = /<meta property="og:image" content="([^"]*)">/;

const addressTag = /<meta name="poproom-address" content="">/;

/** A link that preloads the code or the style of a view. */
const viewLink = /\s*<link [^>]*data-view="(\w+)"[^>]*>/g;

/** The view that the page shows first. `other` needs no more than every page. */
export type View = 'home' | 'room' | 'other';

interface PageValues {
  view: View;
  limits: PageLimits;
  /** For browsers on the server itself, whose own URL (localhost) does not work on other devices. */
  address: string;
  publicUrl: string | undefined;
}

export function filledPage(built: string, { view, limits, address, publicUrl }: PageValues): string {
  const tag = html`<meta name="poproom-limits" content="${JSON.stringify(limits)}">`;
  const where = html`<meta name="poproom-address" content="${address}">`;
  return underBasePath(built, publicUrl)
    .replace(limitsTag, () => tag.html)
    .replace(addressTag, () => where.html)
    .replace(viewLink, (link, of: string) => (of === view ? link : ''))
    .replace(imageTag, (_, path: string) => previewImage(path, publicUrl).html);
}

/** Makes the links of a built page lead to this server, which is not always at the root of its host. */
export function underBasePath(built: string, publicUrl: string | undefined): string {
  const basePath = escapeMarkup(basePathOf(publicUrl));
  return basePath === '' ? built : built.replace(/ (href|src)="\//g, (_, name) => ` ${name}="${basePath}/`);
}

/** Link previews need an absolute URL. */
function previewImage(path: string, publicUrl: string | undefined): Html {
  if (publicUrl === undefined) return html``;
  return html`<meta property="og:image" content="${publicUrl + path}">`;
}

export function pageHeaders({ filesUrl, publicUrl }: LinkSettings): Record<string, string> {
  return {
    'Content-Security-Policy': contentPolicy(filesUrl ?? publicUrl),
    // Prevents other pages from keeping a reference to the window of a room.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': permissions,
  };
}

/** `web-share` is allowed by default, and browsers without it would log a warning. */
const permissions = 'camera=(self), clipboard-read=(self), clipboard-write=(self), microphone=(), geolocation=()';

/** Previews in a room are loaded from the files URL, which may have a different origin. */
function contentPolicy(filesFrom: string | undefined): string {
  const files = filesFrom === undefined ? '' : ` ${new URL(filesFrom).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // blob: is for the camera, and for files before their upload.
    `img-src 'self' blob:${files}`,
    `media-src 'self' blob:${files}`,
    // For PDF files. All files are sandboxed by their own policy.
    `frame-src 'self'${files}`,
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The policy creates the URL of the service worker, which may not be a plain string under this rule.
    "require-trusted-types-for 'script'",
    'trusted-types poproom',
  ].join('; ');
}
