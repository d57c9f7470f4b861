/** Chooses local paths for the files of a room. */
import type { Stats } from 'node:fs';
import { lstat, mkdir, rmdir, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { FileEntry } from '../../client/index.ts';
import type { LocalPath } from '../../core/files/local-name.ts';
import { FileError, withFileErrors } from '../file-error.ts';
import { UsageError } from '../usage-error.ts';
import { isDevice } from './atomic-write.ts';
import { pathInRoom } from './find-file.ts';

export interface Destination {
  /** Shown to the user. */
  name: string;
  file: FileEntry;
  path: string;
  /** Folders that must exist, outermost first. */
  folders: readonly string[];
}

/** `output` is a folder, or for a single file its path. */
export async function destinations(
  files: readonly FileEntry[],
  output: string,
  toLocalPaths: (files: readonly FileEntry[]) => LocalPath[],
): Promise<Destination[]> {
  if (await isFolder(output)) {
    const paths = toLocalPaths(files);
    return files.map((file, i) => destinationIn(output, file, paths[i] ?? []));
  }
  const [file, ...others] = files;
  if (others.length > 0)
    throw new UsageError(
      `${output} is not a folder, but the room has ${files.length} files; name one file, or choose a folder.`,
    );
  return file ? [{ name: basename(output), file, path: output, folders: [] }] : [];
}

const destinationIn = (output: string, file: FileEntry, path: LocalPath): Destination => ({
  name: pathInRoom(file),
  file,
  path: join(output, ...path),
  folders: path.slice(1).map((_, i) => join(output, ...path.slice(0, i + 1))),
});

/** Runs `work` with the folders of a destination. If it fails, removes those that it created. */
export async function withFolders<T>({ folders }: Destination, work: () => Promise<T>): Promise<T> {
  const created: string[] = [];
  try {
    for (const folder of folders) if (await makeFolder(folder)) created.unshift(folder);
    return await work();
  } catch (error) {
    for (const folder of created) await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

/** Returns whether the folder was created. A symbolic link could lead out of the destination. */
async function makeFolder(path: string): Promise<boolean> {
  return withFileErrors(path, async () => {
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory()) return false;
    if (found) throw new FileError(`${path} is a ${kindOf(found)}, where a folder is needed.`);
    await mkdir(path);
    return true;
  });
}

/** Fails before any download. Writing checks again, because a file may appear in between. */
export async function assertNotExisting(destinations: readonly Pick<Destination, 'path'>[]): Promise<void> {
  for (const { path } of destinations) {
    if ((await exists(path)) && !(await isDevice(path)))
      throw new FileError(`${path} already exists; use --force to overwrite it.`);
  }
}

const kindOf = (found: Stats) => (found.isSymbolicLink() ? 'symbolic link' : 'file');

export async function isFolder(path: string): Promise<boolean> {
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
