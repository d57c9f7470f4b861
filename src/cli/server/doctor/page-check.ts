/** Loads the page as a browser does, to find out whether its files can be reached as well. */
import { bad, type Finding, ok, warning } from './finding.ts';

const timeoutMs = 10_000;

/** `url` is that of the server, without a slash at the end. */
export async function checkPage(url: string): Promise<Finding> {
  const html = await loadPage(`${url}/`);
  const forward = `Forward ${url} and all paths below it to the server at the proxy.`;
  if (html === undefined) return warning(`The page cannot be loaded from ${url}/.`, forward);
  const files = filesIn(html, `${url}/`);
  const outside = files.find((file) => !file.startsWith(`${url}/`));
  if (outside !== undefined) {
    const found = `The page at ${url}/ loads ${outside}, which is outside of that URL: the page stays empty.`;
    return bad(found, `Set POPROOM_PUBLIC_URL=${url} for the server, and restart it.`);
  }
  const script = files.find((file) => file.endsWith('.js'));
  if (script !== undefined && !(await isScript(script)))
    return bad(`The page at ${url}/ cannot load ${script}: the page stays empty.`, forward);
  const { pathname } = new URL(url);
  if (pathname !== '/' && (await loadPage(url)) === undefined)
    return warning(`${url} without a slash at the end does not lead to the page.`, forward);
  if (pathname !== '/' && (await loadPage(`${url}${pathname}/`)) !== undefined) {
    const found = `The proxy removes ${pathname}, and the server accepts it again: rules of the proxy can be evaded.`;
    return warning(found, 'Set POPROOM_PATH_REMOVED=true for the server, and restart it.');
  }
  return ok('The page and its scripts can be loaded.');
}

/** Undefined for other pages, such as the sign-in page of a proxy. */
async function loadPage(url: string): Promise<string | undefined> {
  const response = await get(url);
  const html = await response?.text().catch(() => '');
  return response?.ok && html?.includes('<meta name="poproom-limits"') ? html : undefined;
}

/** The URLs of the files that the page loads. */
function filesIn(html: string, base: string): string[] {
  const values = [...html.matchAll(/<(?:link|script)\b[^>]*? (?:href|src)="([^"]+)"/g)].map(([, value = '']) => value);
  return values.filter((value) => URL.canParse(value, base)).map((value) => new URL(value, base).href);
}

/** A proxy may answer unknown paths with a page of its own. */
async function isScript(url: string): Promise<boolean> {
  const response = await get(url);
  await response?.body?.cancel();
  return response?.ok === true && /javascript/.test(response.headers.get('Content-Type') ?? '');
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
