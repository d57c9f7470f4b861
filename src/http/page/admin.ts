/** The page for operators: one file with its own script and style, which loads nothing else. */
import { compressedFile, type PageFile } from './compressed-file.ts';
import { hashesOf } from './docs.ts';

export interface AdminPage {
  headers: Record<string, string>;
  file: PageFile;
}

export async function createAdminPage(built: string): Promise<AdminPage> {
  const headers = {
    'Content-Security-Policy': contentPolicy(built),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  return { headers, file: await compressedFile(built, headers) };
}

/** The page sends the token only to this server, and no other page can show it in a frame. */
function contentPolicy(page: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(page, 'script')}`,
    `style-src ${hashesOf(page, 'style')}`,
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
