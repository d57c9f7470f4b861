/** Where the files of a room go on this disk: paths, existing files, and atomic writes. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type LocalPath, numbered } from '../../core/files/local-name.ts';
import type { Input } from '../command.ts';
import { alreadyExists, FileError, UsageError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { type ConsumePart, type NamedFile, pathInRoom, type ReceivedPart } from './room-files.ts';

export interface Destination<T> {
  /** Shown to the user. */
  name: string;
  file: T;
  path: string;
  /** Folders that must exist, outermost first. */
  folders: readonly string[];
}

/** `output` is a folder with these paths in it, which is created if it ends with a slash, or the path of a single file. */
export async function destinations<T extends NamedFile>(
  files: readonly T[],
  output: string,
  paths: readonly LocalPath[],
) {
  if (await isFolder(output)) {
    const created = await missingFolders(output);
    return files.map((file, i): Destination<T> => {
      const path = paths[i] ?? [];
      const folders = [...created, ...foldersIn(output, path)];
      return { name: pathInRoom(file), file, path: join(output, ...path), folders };
    });
  }
  if (files.length > 1)
    throw new UsageError(
      `${output} is not a folder, but the room has ${files.length} files; name one file, or choose a folder; ${output}/ creates one.`,
    );
  return files.map((file): Destination<T> => ({ name: basename(output), file, path: output, folders: [] }));
}

/** The folders of the path of a file below another folder, outermost first. */
export const foldersIn = (top: string, path: readonly string[]): string[] =>
  path.slice(1).map((_, i) => join(top, ...path.slice(0, i + 1)));

/** The folders of a path that do not exist yet, outermost first. */
async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = resolve(path); !(await exists(folder)); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Runs `work` when these folders exist. If it fails, removes those that it created. */
export async function withFolders<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
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
    const kind = found?.isSymbolicLink() ? 'symbolic link' : 'file';
    if (found) throw new FileError(`${path} is a ${kind}, where a folder is needed.`);
    await mkdir(path);
    return true;
  });
}

/** A path that ends with a slash is a folder, even if it does not exist yet. */
export async function isFolder(path: string): Promise<boolean> {
  const isNamed = path.endsWith('/') || path.endsWith(sep);
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (!isNamed || (error as NodeJS.ErrnoException).code === 'ENOENT') return isNamed;
    return withFileErrors(path, () => Promise.reject(error));
  }
}

/** A dangling symbolic link exists, too. */
export const exists = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;

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

/**
 * Returns the items to download. Fails before any download if one exists and the choice is `fail`. Writing checks again,
 * because a file may appear in between.
 */
export async function withoutExisting<T extends { path: string }>(items: readonly T[], choice: ExistingChoice) {
  if (choice !== 'fail' && choice !== 'skip') return items;
  const kept: T[] = [];
  for (const item of items) {
    if (!(await exists(item.path)) || (await isDevice(item.path))) kept.push(item);
    else if (choice === 'fail') throw new FileError(alreadyExists(item.path));
    else console.error(`Skipped ${printable(item.path)}: it already exists.`);
  }
  return kept;
}

/** `onRenamed` is called with the path that the file got instead. */
export function publishFor(choice: ExistingChoice, onRenamed: (path: string) => void): Publish {
  if (choice === 'overwrite') return rename;
  return choice === 'rename' ? (unfinished, path) => createNumbered(unfinished, path, onRenamed) : createOnly;
}

const maxNumber = 9999;

/** Such as "photo (2).jpg". Tries again if another program takes the name first. */
async function createNumbered(unfinished: string, path: string, onRenamed: (path: string) => void): Promise<void> {
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
}

/** A download that is kept in part if it is interrupted, and continued by the same command. */
export interface Resumable {
  /** The same for the same file of the same room. */
  key: string;
  size: number;
  /** Whether what is here can be continued later. */
  isTemporary(error: unknown): boolean;
  /** Calls `store` with the bytes after those that are here, or with all of them and an empty part. */
  receive(part: ReceivedPart, store: ConsumePart): Promise<void>;
}

/** Writes a file that is not kept in part. */
export function atomicWrite(path: string, bytes: AsyncIterable<Uint8Array>, publish: Publish): Promise<void> {
  const receive: Resumable['receive'] = (part, store) => store(bytes, part);
  const download = { key: randomUUID(), size: Number.POSITIVE_INFINITY, isTemporary: () => false, receive };
  return resumableWrite(path, download, publish);
}

/**
 * Writes a file under a temporary name, and gives it its name only when it is complete. Continues the part that an earlier
 * command has left.
 */
export async function resumableWrite(path: string, download: Resumable, publish: Publish): Promise<void> {
  if (await isDevice(path))
    return download.receive(nothing, (bytes) => withFileErrors(path, async () => write(await open(path, 'w'), bytes)));
  // In the same folder, because a file can only be renamed within its disk.
  const folder = dirname(path);
  const start = `.poproom-${download.key}-`;
  const earlier = await findPart(folder, start, download.size);
  let unfinished = earlier?.path;
  try {
    const received = earlier ?? nothing;
    if (received.bytes < download.size || !earlier)
      await download.receive(received, (bytes, part) =>
        withFileErrors(path, async () => {
          const named = join(folder, start + encodeTag(part.tag));
          if (unfinished !== undefined && part.bytes === 0) await rm(unfinished, { force: true });
          unfinished = named;
          const file = await withFileErrors(folder, () => open(named, part.bytes > 0 ? appendOnly : 'wx'));
          await write(file, bytes);
        }),
      );
    await withFileErrors(path, () => publish(unfinished ?? '', path));
  } catch (error) {
    const found = unfinished === undefined ? undefined : await stat(unfinished).catch(() => undefined);
    if (download.isTemporary(error) && found?.size) console.error('Run the same command again to continue.');
    else if (unfinished !== undefined) await rm(unfinished, { force: true });
    throw error;
  }
  if (unfinished !== undefined) await rm(unfinished, { force: true });
}

const nothing: ReceivedPart = { bytes: 0, tag: undefined };

const partEnd = '.part';
/** A longer one would make the name too long. */
const maxTagBytes = 96;

const encodeTag = (tag = '') => Buffer.from(tag.length <= maxTagBytes ? tag : '').toString('base64url') + partEnd;

/** Only a regular file of this user is continued: in a shared folder, someone else could have put it there. */
async function findPart(folder: string, start: string, size: number) {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((candidate) => candidate.startsWith(start) && candidate.endsWith(partEnd));
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const found = await lstat(path);
  const isOwn = found.isFile() && found.nlink === 1 && found.uid === (process.getuid?.() ?? found.uid);
  if (!isOwn || found.size > size) throw new FileError(`${path} is not a part of this file; remove it.`);
  const tag = Buffer.from(name.slice(start.length, -partEnd.length), 'base64url').toString() || undefined;
  return { path, bytes: found.size, tag };
}

/** Not through a symbolic link. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

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
  await using file = await open(path, 'r');
  await file.sync();
}

/** Windows and some network drives cannot sync a folder. */
const folderSyncUnsupported: ReadonlySet<string> = new Set(['EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EACCES']);

/** Some file systems, such as FAT and network drives, do not support hard links. */
const linkUnsupported: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
