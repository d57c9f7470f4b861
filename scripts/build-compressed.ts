/** Writes compressed copies of files with maximum compression, so that the server does not compress at request time. */
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { gzipSmallest } from './gzip/index.ts';

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
  await writeFile(`${path}.gz`, gzipSmallest(bytes));
}

const brotliParams = (size: number) => ({
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_SIZE_HINT]: size,
});
