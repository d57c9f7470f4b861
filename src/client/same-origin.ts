/** Requests that stay with the server they were made for. */
import { redirected } from './error.ts';

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Follows redirects of reads within the origin, and fails on all others. A request carries the PIN and the key, and
 * only some of them are dropped by `fetch` when it goes elsewhere. Browsers do not tell where a redirect leads.
 */
export async function fetchFromOrigin(url: string, init: RequestInit): Promise<Response> {
  let address = url;
  for (let count = 0; ; count++) {
    const response = await fetch(address, { ...init, redirect: 'manual' });
    if (response.type !== 'opaqueredirect' && !redirects.has(response.status)) return response;
    const target = locationIn(response, address);
    await response.body?.cancel();
    const isFollowed = init.method === 'GET' && target?.origin === new URL(url).origin && count < maxRedirects;
    if (!isFollowed) throw redirected(response.status, target);
    address = target.href;
  }
}

function locationIn({ headers }: Response, base: string): URL | undefined {
  const location = headers.get('Location') ?? '';
  return location && URL.canParse(location, base) ? new URL(location, base) : undefined;
}
