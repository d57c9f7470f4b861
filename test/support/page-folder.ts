/** A built page in a temporary folder, with one file of each kind. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const html = `<!doctype html>
<meta name="poproom-limits" content='{}'>
<title>Poproom</title>
`;

export const script = `console.log(${JSON.stringify('grüezi '.repeat(300))});\n`;

/** Files without and with compressed variants. */
const plain = {
  'index.0123456789ab.css': 'p{color:red}',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'icon-maskable.png': 'not really',
  'manifest.webmanifest': '{}',
  'licenses.md': '# Licences',
  'service-worker.js': 'self.skipWaiting();',
  'strange.thing': '?',
};
const compressed = { 'index.abcdef012345.js': script };

export async function createPageFolder(t: TestContext): Promise<{ folder: URL; path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'poproom-page-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, 'assets'));
  await writeFile(join(path, 'index.html'), html);
  await writeFile(join(path, 'secret.txt'), 'beside the assets');
  for (const [name, text] of Object.entries(plain)) await writeFile(join(path, 'assets', name), text);
  for (const [name, text] of Object.entries(compressed)) {
    await writeFile(join(path, 'assets', name), text);
    await writeFile(join(path, 'assets', `${name}.br`), brotliCompressSync(text));
    await writeFile(join(path, 'assets', `${name}.gz`), gzipSync(text));
  }
  return { path, folder: pathToFileURL(`${path}/`) };
}
