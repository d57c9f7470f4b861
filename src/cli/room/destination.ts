/** Chooses local paths for the files of a room. */
import type { Stats } from 'node:fs';
import { lstat, mkdir, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { FileEntry } from '../../client/index.ts';
import type { LocalPath } from '../../core/files/local-name.ts';
import { alreadyExists, FileError, withFileErrors } from '../file-error.ts';
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

/** `output` is a folder, which is created if it ends with a slash, or for a single file its path. */
export async function destinations(
  files: readonly FileEntry[],
  output: string,
  toLocalPaths: (files: readonly FileEntry[]) => LocalPath[],
): Promise<Destination[]> {
  if (await isFolder(output)) {
    const paths = toLocalPaths(files);
    const created = await missingFolders(output);
    return files.map((file, i) => destinationIn(output, created, file, paths[i] ?? []));
  }
  const [file, ...others] = files;
  if (others.length > 0)
    throw new UsageError(
      `${output} is not a folder, but the room has ${files.length} files; name one file, or choose a folder; ${output}/ creates one.`,
    );
  return file ? [{ name: basename(output), file, path: output, folders: [] }] : [];
}

const destinationIn = (output: string, created: readonly string[], file: FileEntry, path: LocalPath): Destination => ({
  name: pathInRoom(file),
  file,
  path: join(output, ...path),
  folders: [...created, ...path.slice(1).map((_, i) => join(output, ...path.slice(0, i + 1)))],
});

/** The folders of a path that do not exist yet, outermost first. */
export async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = resolve(path); !(await exists(folder)); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Runs `work` with the folders of a destination. If it fails, removes those that it created. */
export async function withFolders<T>({ folders }: Pick<Destination, 'folders'>, work: () => Promise<T>): Promise<T> {
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
    if ((await exists(path)) && !(await isDevice(path))) throw new FileError(alreadyExists(path));
  }
}

const kindOf = (found: Stats) => (found.isSymbolicLink() ? 'symbolic link' : 'file');

/** A path that ends with a slash is a folder, even if it does not exist yet. */
export async function isFolder(path: string): Promise<boolean> {
  const isNamedAsFolder = path.endsWith('/') || path.endsWith(sep);
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (!isNamedAsFolder || (error as NodeJS.ErrnoException).code === 'ENOENT') return isNamedAsFolder;
    return withFileErrors(path, () => Promise.reject(error));
  }
}

/** A dangling symbolic link exists, too. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
