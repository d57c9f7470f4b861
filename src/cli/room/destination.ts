/** Where the files of a room go on this disk: paths, existing files, and atomic writes. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { FileEntry } from '../../client/index.ts';
import { type LocalPath, numbered } from '../../core/files/local-name.ts';
import type { Input } from '../command.ts';
import { alreadyExists, FileError, UsageError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { pathInRoom } from './room-files.ts';

interface Destination {
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
async function assertNotExisting(destinations: readonly Pick<Destination, 'path'>[]): Promise<void> {
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

/** How `poproom fetch` treats a file that already exists: `--existing` and `--force`. */
const existingChoices = ['fail', 'skip', 'rename', 'overwrite'] as const;
type ExistingChoice = (typeof existingChoices)[number];

export function readExistingChoice(input: Input): ExistingChoice {
  const text = input.value('existing');
  if (text === undefined) return input.isSet('force') ? 'overwrite' : 'fail';
  const choice = existingChoices.find((candidate) => candidate === text);
  if (!choice) throw new UsageError(`"${text}" is not a choice for --existing; use skip, rename, overwrite or fail.`);
  if (input.isSet('force') && choice !== 'overwrite') throw new UsageError('Use either --force or --existing.');
  return choice;
}

/** Returns the items to download. Fails before any download if one exists and the choice is `fail`. */
export async function withoutExisting<T extends { path: string }>(
  items: readonly T[],
  choice: ExistingChoice,
): Promise<readonly T[]> {
  if (choice === 'fail') await assertNotExisting(items);
  if (choice !== 'skip') return items;
  const kept: T[] = [];
  for (const item of items) {
    if (!(await exists(item.path)) || (await isDevice(item.path))) kept.push(item);
    else console.error(`Skipped ${printable(item.path)}: it already exists.`);
  }
  return kept;
}

/** `onRenamed` is called with the path that the file got instead. */
export function publishFor(choice: ExistingChoice, onRenamed: (path: string) => void): Publish {
  if (choice === 'overwrite') return replaceExisting;
  return choice === 'rename' ? createNumbered(onRenamed) : createOnly;
}

const maxNumber = 9999;

/** Such as "photo (2).jpg". Tries again if another program takes the name first. */
function createNumbered(onRenamed: (path: string) => void): Publish {
  return async (unfinished, path) => {
    for (let number = 1; number <= maxNumber; number++) {
      const name = number === 1 ? basename(path) : numbered(basename(path), ` (${number})`);
      const free = join(dirname(path), name);
      try {
        await createOnly(unfinished, free);
        if (number > 1) onRenamed(free);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    throw new FileError(`${path} exists ${maxNumber} times; remove some of these files.`);
  };
}

/** Writes a file under a temporary name, and gives it its name only when it is complete. */
export async function atomicWrite(path: string, bytes: AsyncIterable<Uint8Array>, publish: Publish): Promise<void> {
  if (await isDevice(path)) return withFileErrors(path, async () => write(await open(path, 'w'), bytes));
  // In the same folder, because a file can only be renamed within its disk.
  const folder = dirname(path);
  const unfinished = join(folder, `.poproom-${randomUUID()}.part`);
  const file = await withFileErrors(folder, () => open(unfinished, 'wx'));
  try {
    await withFileErrors(path, async () => {
      await write(file, bytes);
      await publish(unfinished, path);
    });
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** A device such as /dev/null is written to directly, and must not be replaced by a file. */
async function isDevice(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

async function write(file: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of bytes) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}

/** Gives the complete file its name. */
type Publish = (unfinished: string, path: string) => Promise<void>;

const replaceExisting: Publish = rename;

/** Fails if the file exists, even if it was created during the download. */
const createOnly: Publish = async (unfinished, path) => {
  try {
    await link(unfinished, path);
  } catch (error) {
    if (!linkUnsupported.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // Reserve the name with an empty file, then replace that file.
    await (await open(path, 'wx')).close();
    await rename(unfinished, path);
  }
};

/** Returns when the file is on disk under its name, so that a power failure does not lose it. */
export const durably =
  (publish: Publish): Publish =>
  async (unfinished, path) => {
    await sync(unfinished);
    await publish(unfinished, path);
    await sync(dirname(path)).catch((error: NodeJS.ErrnoException) => {
      if (!folderSyncUnsupported.has(error.code ?? '')) throw error;
    });
  };

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Windows and some network drives cannot sync a folder. */
const folderSyncUnsupported: ReadonlySet<string> = new Set(['EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EACCES']);

/** Some file systems, such as FAT and network drives, do not support hard links. */
const linkUnsupported: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
