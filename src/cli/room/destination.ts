/** Where the files of a room go. */
import { lstat, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { FileEntry } from '../../client/index.ts';
import { FileError, onFile } from '../file-error.ts';
import { UsageError } from '../usage-error.ts';
import { isDevice } from './atomic-write.ts';
import { localNames } from './local-name.ts';

export interface Arrival {
  /** For people. */
  name: string;
  file: FileEntry;
  path: string;
}

/** `output` is a folder, or for one file a path; this folder when not said. */
export async function destinations(files: readonly FileEntry[], output = '.'): Promise<Arrival[]> {
  if (await isFolder(output)) {
    const names = localNames(files.map(({ fileName }) => fileName));
    return files.map((file, i) => ({ name: file.fileName, file, path: join(output, names[i] ?? '') }));
  }
  const [file, ...others] = files;
  if (others.length > 0)
    throw new UsageError(`${output} is no folder, and the room has ${files.length} files; name one, or a folder.`);
  return file ? [{ name: basename(output), file, path: output }] : [];
}

/** Told before anything has come; whether it still holds then is looked at again. */
export async function mustBeFree(arrivals: readonly Arrival[]): Promise<void> {
  for (const { path } of arrivals) {
    if ((await isThere(path)) && !(await isDevice(path)))
      throw new FileError(`${path} is there already; say --force to overwrite it.`);
  }
}

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith('/') || path.endsWith(sep)) return onFile(path, async () => (await stat(path)).isDirectory());
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** A link that leads nowhere is there, too. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
