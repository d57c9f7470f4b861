/** Builds the page into dist/web: the output of Vite, the service worker, compressed copies, the documentation and the admin page. */

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { appendFile, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzipSync, gzip } from 'node:zlib';
import { gzipAsync as zopfli } from '@gfx/zopfli';
import { build } from 'vite';
import { buildAdmin } from './build-admin.ts';
import { buildDocs } from './build-docs.ts';
import { buildServiceWorker } from './build-service-worker.ts';

export async function buildPage(root: string): Promise<void> {
  const startedAt = new Date();
  const unfinished = join(root, `dist/.unfinished-page-${process.pid}`);
  try {
    const configFile = join(root, 'web/vite.config.ts');
    await build({ configFile, build: { outDir: unfinished }, logLevel: 'warn' });
    await addWorkerLicense(root, join(unfinished, 'assets/licenses.md'));
    await buildServiceWorker(root, unfinished);
    await compressFiles(join(unfinished, 'assets'));
    await buildDocs(root, unfinished);
    await buildAdmin(root, unfinished);
    // A file that changed during the build is newer than its result.
    await utimes(join(unfinished, 'index.html'), startedAt, startedAt);
    await putInPlace(unfinished, join(root, 'dist/web'));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Vite lists the libraries of the page, but not the QR decoder in its worker. */
async function addWorkerLicense(root: string, licenses: string): Promise<void> {
  const folder = join(root, 'node_modules/qr');
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const text = await readFile(join(folder, 'LICENSE-MIT'), 'utf8');
  await appendFile(licenses, `\n---\n\n## ${name} - ${version} (${license})\n\n${text.trim()}\n`);
}

/** Replaces the folder atomically, because a server may be about to read the page. */
async function putInPlace(unfinished: string, place: string): Promise<void> {
  const former = `${unfinished}-former`;
  await rename(place, former).catch(ignoreMissing);
  await rename(unfinished, place);
  await rm(former, { recursive: true, force: true });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Below this, an answer fits into one packet anyway. */
const worthwhile = 1000;

/** Writes compressed copies of files with maximum compression, so that the server does not compress at request time. */
async function compressFiles(folder: string): Promise<void> {
  const names = globSync('*.{js,css,svg,webmanifest,md}', { cwd: folder });
  await Promise.all(names.map((name) => compressFile(join(folder, name))));
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length <= worthwhile) return;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params: brotliParams(bytes.length) }));
  await writeFile(`${path}.gz`, await compressGzip(basename(path), bytes));
}

/** The parts of the home page and of a room. Zopfli saves 3 to 4 % of them; for all files it would take 10 seconds. */
const isOfFirstView = (name: string) => /^(page|home|room|index|forms|qr)\./.test(name);

async function compressGzip(name: string, bytes: Buffer): Promise<Uint8Array> {
  if (!isOfFirstView(name)) return promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION });
  const compressed = await zopfli(bytes, {});
  assert(gunzipSync(compressed).equals(bytes), `Zopfli has damaged ${name}`);
  return compressed;
}

const brotliParams = (size: number) => ({
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_SIZE_HINT]: size,
});
