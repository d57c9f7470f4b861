/** Finds web links in a text. */
import { linkifyit } from 'linkify-it';

const linkify = linkifyit({ fuzzyLink: true });
const maxSearched = 100_000;

/**
 * Only http and https links, so that nobody in a room can make others run code with a click. The text is the URL as the
 * browser parses it, which exposes lookalike domains.
 */
export function findLinks(text: string, maxLinks: number): { url: string; text: string }[] {
  const found = new Map<string, string>();
  for (const { url, lastIndex } of linkify.match(text.slice(0, maxSearched)) ?? []) {
    const link = /^https?:\/\//i.test(url) ? URL.parse(url) : null;
    // A link that reaches the end of the searched part may be incomplete.
    if (link && lastIndex < maxSearched) found.set(link.href, displayText(link));
    if (found.size === maxLinks) break;
  }
  return Array.from(found, ([url, text]) => ({ url, text }));
}

const displayText = ({ host, pathname, search }: URL): string => host + (pathname === '/' ? '' : pathname) + search;
