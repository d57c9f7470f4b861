/** Writes compressed copies of files with maximum compression, so that the server does not compress at request time. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzipSync, gzip } from 'node:zlib';
import { gzipAsync as zopfli } from '@gfx/zopfli';

/** Below this, an answer fits into one packet anyway. */
const worthwhile = 1000;

export async function compressFiles(folder: string): Promise<void> {
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
