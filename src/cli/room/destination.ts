/** Chooses local paths for the files of a room. */
import { lstat, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { FileEntry } from '../../client/index.ts';
import { FileError, withFileErrors } from '../file-error.ts';
import { UsageError } from '../usage-error.ts';
import { isDevice } from './atomic-write.ts';
import { localNames } from './local-name.ts';

export interface Destination {
  /** Shown to the user. */
  name: string;
  file: FileEntry;
  path: string;
}

/** `output` is a folder, or for a single file its path. */
export async function destinations(files: readonly FileEntry[], output = '.'): Promise<Destination[]> {
  if (await isFolder(output)) {
    const names = localNames(files.map(({ fileName }) => fileName));
    return files.map((file, i) => ({ name: file.fileName, file, path: join(output, names[i] ?? '') }));
  }
  const [file, ...others] = files;
  if (others.length > 0)
    throw new UsageError(
      `${output} is not a folder, but the room has ${files.length} files; name one file, or choose a folder.`,
    );
  return file ? [{ name: basename(output), file, path: output }] : [];
}

/** Fails before any download. Writing checks again, because a file may appear in between. */
export async function assertNotExisting(destinations: readonly Destination[]): Promise<void> {
  for (const { path } of destinations) {
    if ((await exists(path)) && !(await isDevice(path)))
      throw new FileError(`${path} already exists; use --force to overwrite it.`);
  }
}

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith('/') || path.endsWith(sep))
    return withFileErrors(path, async () => (await stat(path)).isDirectory());
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** A dangling symbolic link exists, too. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
