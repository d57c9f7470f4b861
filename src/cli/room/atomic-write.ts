/** Puts a file on the disk all at once: until its last byte has come, there is nothing new under its name. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onFile } from '../file-error.ts';

export async function atomicWrite(path: string, bytes: AsyncIterable<Uint8Array>, put: Put): Promise<void> {
  if (await isDevice(path)) return onFile(path, async () => write(await open(path, 'w'), bytes));
  // Beside it, since a file can only be renamed on its own disk.
  const folder = dirname(path);
  const unfinished = join(folder, `.poproom-${randomUUID()}.part`);
  const file = await onFile(folder, () => open(unfinished, 'wx'));
  try {
    await onFile(path, async () => {
      await write(file, bytes);
      await put(unfinished, path);
    });
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Such as /dev/null: it takes what is written, and must not be replaced by a file. */
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

export type Put = (unfinished: string, path: string) => Promise<void>;

export const replaceExisting: Put = rename;

/** Fails where there is something, however lately it came. */
export const createOnly: Put = async (unfinished, path) => {
  try {
    await link(unfinished, path);
  } catch (error) {
    if (!hasNoLinks.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // The name is taken first, then what took it is replaced.
    await (await open(path, 'wx')).close();
    await rename(unfinished, path);
  }
};

/** As the disks of cameras and some over a network. */
const hasNoLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
