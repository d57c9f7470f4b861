/** Web addresses in a text. */
import { linkifyit } from 'linkify-it';

const linkify = linkifyit({ fuzzyLink: true });

/** Only addresses of the web: whoever writes into a room cannot make others run anything by a click. */
export function findLinks(text: string, most: number): { url: string; text: string }[] {
  const found = new Map<string, string>();
  for (const { url, text: words } of linkify.match(text.slice(0, 100_000)) ?? []) {
    if (/^https?:\/\//i.test(url)) found.set(url, words);
    if (found.size === most) break;
  }
  return Array.from(found, ([url, text]) => ({ url, text }));
}
