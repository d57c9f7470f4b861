/** Writes a file under a temporary name, and gives it its name only when it is complete. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withFileErrors } from '../file-error.ts';

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
export async function isDevice(path: string): Promise<boolean> {
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
export type Publish = (unfinished: string, path: string) => Promise<void>;

export const replaceExisting: Publish = rename;

/** Fails if the file exists, even if it was created during the download. */
export const createOnly: Publish = async (unfinished, path) => {
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
