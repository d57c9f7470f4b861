/** The API documentation, with the limits of this server and its public URL in the examples. */
import { compressedFile, type PageFile } from './compressed-file.ts';
import { underBasePath } from './html.ts';
import { escapeMarkup } from './html-template.ts';
import { fillPhrases, limitPhrases, type ServerLimits } from './server-limits.ts';

export interface Docs {
  headers: Record<string, string>;
  file: PageFile;
}

/** The URL in the examples of the built page. */
const exampleBase = 'http://localhost:8080';

/** One document for every host name, which clients can invent. Without a public URL, its script inserts its own URL. */
export async function createDocs(built: string, limits: ServerLimits, publicUrl: string | undefined): Promise<Docs> {
  const page = fillPhrases(underBasePath(built, publicUrl), limitPhrases(limits), escapeMarkup);
  const filled = publicUrl === undefined ? page : page.replaceAll(exampleBase, () => escapeMarkup(publicUrl));
  const headers = { 'Content-Security-Policy': contentPolicy(filled) };
  return { headers, file: await compressedFile(filled, headers) };
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
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The sources of a policy that allow the inline elements of a page. */
export function hashesOf(page: string, element: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const contents = page.matchAll(new RegExp(`<${element}\\b[^>]*>(.*?)</${element}>`, 'gs'));
  const hashes = [...contents].map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
  return hashes.map((hash) => `'sha256-${hash}'`).join(' ') || "'none'";
}
