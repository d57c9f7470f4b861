/** The folder whose files an agent may send and save. No error says whether something outside of it exists. */
import { constants } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { localName } from '../../core/files/local-name.ts';
import { FileError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { atomicWrite, foldersIn, publishFor, withFolders } from '../room/destination.ts';
import { LocalFile } from '../room/local-file.ts';

export type AllowedFolder = Awaited<ReturnType<typeof openAllowedFolder>>;

/** Calls `store` with the bytes of the file. */
type WriteFile = (store: (bytes: AsyncIterable<Uint8Array>) => Promise<void>) => Promise<void>;

/** No file system has deeper folders than this by accident. */
const maxDepth = 32;

export async function openAllowedFolder(folder: string) {
  const root = await withFileErrors(folder, () => realpath(folder));
  if (!(await stat(root)).isDirectory()) throw new FileError(`${folder} is not a folder.`);

  /** Refuses hidden names too: they are settings and secrets, such as `.env`, or files that programs run. */
  function namesIn(path: string): readonly string[] {
    const inside = isAbsolute(path) ? relative(root, path) : path;
    const names = inside.split(sep === '\\' ? /[/\\]/ : '/').filter((name) => name !== '' && name !== '.');
    const isAllowed = names.length > 0 && names.length <= maxDepth && names.every((name) => localName(name) === name);
    if (!isAllowed || isAbsolute(inside)) throw unavailable(path);
    return names;
  }

  return {
    async open(path: string) {
      const local = join(root, ...namesIn(path));
      const version = await versionOf(local).catch(() => undefined);
      if (!version) throw unavailable(path);
      return { name: basename(local), file: new LocalFile(local, version) };
    },

    /** Returns the path in the folder. The file appears when it is complete. */
    async save(path: string, { overwrites }: { overwrites: boolean }, write: WriteFile) {
      const names = namesIn(path);
      const target = join(root, ...names);
      await withFolders(foldersIn(root, names), async () => {
        await assertFree(target, path, overwrites);
        const publish = publishFor(overwrites ? 'overwrite' : 'fail', () => undefined);
        await write((bytes) => atomicWrite(target, bytes, publish));
      });
      return names.join('/');
    },
  };
}

/** Undefined if this is not a regular file, or if a symbolic link is on its path. Opens nothing that could block. */
async function versionOf(path: string) {
  if ((await realpath(path)) !== path || !(await lstat(path)).isFile()) return undefined;
  await using handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  const [opened, found] = [await handle.stat(), await lstat(path)];
  const { size, mtimeMs, ctimeMs, ino, dev } = opened;
  return opened.isFile() && ino === found.ino && dev === found.dev ? { size, mtimeMs, ctimeMs } : undefined;
}

async function assertFree(target: string, path: string, overwrites: boolean): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found && !found.isFile()) throw unavailable(path);
  if (found && !overwrites)
    throw new FileError(
      `"${printable(path)}" already exists in the allowed folder; choose another path, or overwrite.`,
    );
}

const unavailable = (path: string) =>
  new FileError(
    `"${printable(path)}" is not available. Use the path of a file in the allowed folder, without "..", hidden names and symbolic links.`,
  );
