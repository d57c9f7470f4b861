/** The page as this server hands it out: its own limits in it, and what it may do in a browser around it. */
import { html } from '../docs/html.ts';
import type { LinkSettings } from '../response/links.ts';

/** What the page tells people before they run into it. Times are in seconds, sizes in bytes. */
export interface PageLimits {
  roomTtl: number;
  roomMaxTtl: number;
  contentMax: number;
  fileMax: number;
}

const limitsTag = /<meta name="poproom-limits" content=(?:'[^']*'|"[^"]*")>/;

const addressTag = /<meta name="poproom-address" content="">/;

/** `address` is for those who have opened the page on the server itself: their own leads other devices nowhere. */
export function filledPage(built: string, limits: PageLimits, address: string): string {
  const tag = html`<meta name="poproom-limits" content="${JSON.stringify(limits)}">`;
  const where = html`<meta name="poproom-address" content="${address}">`;
  return built.replace(limitsTag, () => tag.html).replace(addressTag, () => where.html);
}

export function pageHeaders({ filesUrl, publicUrl }: LinkSettings): Record<string, string> {
  return {
    'Content-Security-Policy': contentPolicy(filesUrl ?? publicUrl),
    // No other page holds a handle on the window of a room.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': permissions,
  };
}

/** Sharing is the page's own anyway, and naming it makes browsers that cannot do it complain. */
const permissions = 'camera=(self), clipboard-read=(self), clipboard-write=(self), microphone=(), geolocation=()';

/** Pictures of a room come from where its files are, which need not be where the page is. */
function contentPolicy(filesFrom: string | undefined): string {
  const pictures = filesFrom === undefined ? '' : ` ${new URL(filesFrom).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // blob: is for what the device itself has: the camera, and files before they are sent.
    `img-src 'self' blob:${pictures}`,
    "media-src 'self' blob:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The one policy is for the address of the service worker, which no browser takes as a string then.
    "require-trusted-types-for 'script'",
    'trusted-types poproom',
  ].join('; ');
}
