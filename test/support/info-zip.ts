/** Reads zip archives with Info-ZIP's unzip, which complains about every fault of the format. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface UnzippedFile {
  path: string;
  bytes: Buffer;
  modifiedAt: number;
}

/** Extracts an archive. Fails if unzip has any complaint about it. Sorted by path. */
export async function unzip(t: TestContext, archive: Uint8Array): Promise<UnzippedFile[]> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-zip-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'archive.zip'), archive);
  return unzipFile(join(folder, 'archive.zip'), join(folder, 'files'));
}

/** The names of the files in an archive on disk, in its order. */
export async function namesInZip(archive: string): Promise<string[]> {
  return (await run('unzip', ['-Z1', archive], inUtf8)).stdout.trimEnd().split('\n');
}

/** The text of one file in an archive on disk. */
export async function textInZip(archive: string, path: string): Promise<string> {
  return (await run('unzip', ['-p', archive, path], inUtf8)).stdout;
}

export async function unzipFile(archive: string, folder: string): Promise<UnzippedFile[]> {
  await run('unzip', ['-qq', archive, '-d', folder], inUtf8);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    files.sort().map(async (file) => ({
      path: file.slice(folder.length + 1),
      bytes: await readFile(file),
      modifiedAt: (await stat(file)).mtimeMs,
    })),
  );
}

const inUtf8 = { env: { ...process.env, LC_ALL: 'C.UTF-8' }, maxBuffer: 64 * 1024 * 1024 };
