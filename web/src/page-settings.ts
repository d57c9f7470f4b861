/** Where this page and its scripts are hosted, perhaps at a path such as `/poproom`, and the limits of its server. */
import type { PageLimits } from '../../src/protocol/limits.ts';

/** The URL of the server without a slash at the end. All scripts are in the folder `assets` below it. */
export const baseUrl = import.meta.url.replace(/(\/[^/]*){2}$/, '');
/** Empty at the root of the host. */
export const basePath = baseUrl.slice(location.origin.length);

/** What the server has written into index.html. */
export const metaContent = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="poproom-${name}"]`)?.content;

/** The URL of the server, if `poproom ui` serves this page and forwards its requests. Empty otherwise. */
export const forwardedTo = metaContent('server') ?? '';

export const limits: PageLimits = JSON.parse(metaContent('limits') ?? '{}');

/** The choices for the lifetime of a room, in seconds: the server's default and common values up to its maximum. */
export const lifetimes = [...new Set([600, 3600, 86_400, 604_800, 2_592_000, 31_536_000, limits.roomTtl])]
  .filter((seconds) => seconds <= limits.roomMaxTtl)
  .sort((a, b) => a - b);

/** The Content-Security-Policy rejects plain strings as URLs of scripts, and allows one policy that creates them. */
type Policy = { createScriptURL(url: string): string };

const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } };
const policy = trustedTypes?.createPolicy('poproom', { createScriptURL: (url) => url });

/** Only for the fixed paths of our own scripts. */
export const trustedScriptUrl = (path: string): string => policy?.createScriptURL(path) ?? path;
