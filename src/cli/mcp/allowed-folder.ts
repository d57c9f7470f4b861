/** The folder whose files an agent may send and save. No error says whether something outside of it exists. */
import { constants } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { localName } from '../../core/files/local-name.ts';
import { FileError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { atomicWrite, publishFor, withFolders } from '../room/destination.ts';
import { LocalFile } from '../room/local-file.ts';

export interface AllowedFolder {
  readonly path: string;
  open(path: string): Promise<{ name: string; file: LocalFile }>;
  /** Returns the path in the folder. The file appears when it is complete. */
  save(path: string, options: { overwrites: boolean }, write: WriteFile): Promise<string>;
}

/** Calls `store` with the bytes of the file. */
type WriteFile = (store: (bytes: AsyncIterable<Uint8Array>) => Promise<void>) => Promise<void>;

/** No file system has deeper folders than this by accident. */
const maxDepth = 32;

export async function openAllowedFolder(folder: string): Promise<AllowedFolder> {
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
    path: root,

    async open(path) {
      const local = join(root, ...namesIn(path));
      const version = await versionOf(local).catch(() => undefined);
      if (!version) throw unavailable(path);
      return { name: basename(local), file: new LocalFile(local, version) };
    },

    async save(path, { overwrites }, write) {
      const names = namesIn(path);
      const folders = names.slice(0, -1).map((_, i) => join(root, ...names.slice(0, i + 1)));
      const target = join(root, ...names);
      await withFolders({ folders }, async () => {
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
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const [opened, found] = [await handle.stat(), await lstat(path)];
    const { size, mtimeMs, ctimeMs } = opened;
    return opened.isFile() && opened.ino === found.ino && opened.dev === found.dev
      ? { size, mtimeMs, ctimeMs }
      : undefined;
  } finally {
    await handle.close();
  }
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
