/** Web addresses in a text. */
import { linkifyit } from 'linkify-it';

const linkify = linkifyit({ fuzzyLink: true });
const mostRead = 100_000;

/**
 * Only addresses of the web: whoever writes into a room cannot make others run anything by a click. They are shown as
 * the browser reads them, so that one that only looks like another does not look like it here.
 */
export function findLinks(text: string, most: number): { url: string; text: string }[] {
  const found = new Map<string, string>();
  for (const { url, lastIndex } of linkify.match(text.slice(0, mostRead)) ?? []) {
    const link = /^https?:\/\//i.test(url) ? URL.parse(url) : null;
    // What reaches to the end of what is read may go on after it.
    if (link && lastIndex < mostRead) found.set(link.href, shownAs(link));
    if (found.size === most) break;
  }
  return Array.from(found, ([url, text]) => ({ url, text }));
}

const shownAs = ({ host, pathname, search }: URL): string => host + (pathname === '/' ? '' : pathname) + search;
