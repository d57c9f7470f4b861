/** Sends requests that stay on the origin of the server. */
import { redirectError } from './error.ts';

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Follows redirects of reads within the origin, and fails on all others: `fetch` would send the PIN to the new origin.
 * Browsers do not reveal the target of a redirect, so there every redirect fails.
 */
export async function fetchFromOrigin(url: string, init: RequestInit): Promise<Response> {
  let address = url;
  for (let count = 0; ; count++) {
    const response = await fetch(address, { ...init, redirect: 'manual' });
    if (response.type !== 'opaqueredirect' && !redirects.has(response.status)) return response;
    const target = redirectTarget(response, address);
    await response.body?.cancel();
    const isFollowed = init.method === 'GET' && target?.origin === new URL(url).origin && count < maxRedirects;
    if (!isFollowed) throw redirectError(response.status, target);
    address = target.href;
  }
}

function redirectTarget({ headers }: Response, base: string): URL | undefined {
  const location = headers.get('Location') ?? '';
  return location && URL.canParse(location, base) ? new URL(location, base) : undefined;
}
