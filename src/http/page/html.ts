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
      .replace(imageTag, (_, path: string) => previewImage(path, publicUrl).html)
  );
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

/** `isForwarded`: other paths of this origin have responses of another server, and must not contain scripts. */
export function pageHeaders({ filesUrl, publicUrl }: LinkSettings, isForwarded: boolean): Record<string, string> {
  const scripts = isForwarded ? `${publicUrl}/assets/` : "'self'";
  return {
    'Content-Security-Policy': contentPolicy(filesUrl ?? publicUrl, scripts),
    // Prevents other pages from keeping a reference to the window of a room.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': permissions,
  };
}

/** `web-share` is allowed by default, and browsers without it would log a warning. */
const permissions = 'camera=(self), clipboard-read=(self), clipboard-write=(self), microphone=(), geolocation=()';

/** Previews in a room are loaded from the files URL, which may have a different origin. */
function contentPolicy(filesFrom: string | undefined, scripts: string): string {
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
