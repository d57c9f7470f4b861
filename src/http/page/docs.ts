/** The API documentation, with the limits of this server and its URL in the examples. */
import { compressedFile, type PageFile, plainFile } from './compressed-file.ts';
import { underBasePath } from './html.ts';
import { escapeMarkup } from './html-template.ts';
import { fillPhrases, limitPhrases, type ServerLimits } from './server-limits.ts';

export interface Docs {
  headers: Record<string, string>;
  /** `base` is the URL of this server as the client reaches it. */
  pageFor(base: string): PageFile | Promise<PageFile>;
}

/** The URL in the examples of the built page. */
const exampleBase = 'http://localhost:8080';

/** A server has few host names. For further ones, which a client can invent, nothing is compressed or kept. */
const maxCachedPages = 8;

export function createDocs(built: string, limits: ServerLimits, publicUrl: string | undefined): Docs {
  const template = fillPhrases(underBasePath(built, publicUrl), limitPhrases(limits), escapeMarkup);
  const headers = { 'Content-Security-Policy': contentPolicy(template) };
  const filled = (base: string) => template.replaceAll(exampleBase, () => escapeMarkup(base));
  const pages = new Map<string, Promise<PageFile>>();
  return {
    headers,
    pageFor(base) {
      const known = pages.get(base);
      if (known) return known;
      if (pages.size >= maxCachedPages) return plainFile(filled(base), headers);
      const page = compressedFile(filled(base), headers);
      pages.set(base, page);
      return page;
    },
  };
}

/** Allows only the inline script and style of the page itself, and the icon. */
function contentPolicy(page: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(page, 'script')}`,
    `style-src ${hashesOf(page, 'style')}`,
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The sources of a policy that allow the inline elements of a page. */
export function hashesOf(page: string, element: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const contents = page.matchAll(new RegExp(`<${element}\\b[^>]*>(.*?)</${element}>`, 'gs'));
  const hashes = [...contents].map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ') || "'none'";
}
