/** Where this page is hosted, and the limits of its server. A server may have a path on its host, such as `/poproom`. */
import type { PageLimits } from '../../src/protocol/limits.ts';

/** The URL of the server without a slash at the end. All scripts are in the folder `assets` below it. */
export const baseUrl = import.meta.url.replace(/(\/[^/]*){2}$/, '');
/** Empty at the root of the host. */
export const basePath = baseUrl.slice(location.origin.length);

/** The URL of the server, if `poproom ui` serves this page and forwards its requests. Empty otherwise. */
export const forwardedTo = document.querySelector<HTMLMetaElement>('meta[name="poproom-server"]')?.content ?? '';

/** The server writes them into index.html. */
export const limits: PageLimits = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name="poproom-limits"]')?.content ?? '{}',
);

/** The choices for the lifetime of a room, in seconds: the server's default and common values up to its maximum. */
export const lifetimes = [...new Set([600, 3600, 86_400, 604_800, 2_592_000, 31_536_000, limits.roomTtl])]
  .filter((seconds) => seconds <= limits.roomMaxTtl)
  .sort((a, b) => a - b);
