/** Files in a folder. Bytes are complete, on the disk and under their final name before anything refers to them. */
import { mkdirSync } from 'node:fs';
import { access, constants, type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import type { BlobStore } from '../core/ports.ts';

export interface DiskOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
}

export function openDiskBlobs({ folder, minFree }: DiskOptions): BlobStore {
  const unfinished = join(folder, 'unfinished');
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });

  /** What uploads under way may still write. */
  let promised = 0;
  /** Whatever a clock that was set says of their age, these are no strays. */
  const underWay = new Set<string>();

  const shardOf = (blob: string) => join(folder, blob.slice(0, 2));
  const pathOf = (blob: string) => join(shardOf(checked(blob)), blob);

  async function publish(draft: string, blob: string): Promise<void> {
    const made = await mkdir(shardOf(blob), { recursive: true, mode: 0o700 });
    await rename(draft, pathOf(blob));
    await syncFolder(shardOf(blob));
    if (made) await syncFolder(folder);
  }

  return {
    async put(blob, bytes, maxBytes, signal) {
      // Before the first read and after a refusal nobody else listens, and an unheard error would end the process.
      bytes.on('error', () => undefined);
      const draft = join(unfinished, checked(blob));
      promised += maxBytes;
      underWay.add(blob);
      try {
        const size = await writeDurably(draft, bytes, maxBytes, signal);
        await publish(draft, blob);
        return size;
      } catch (error) {
        await rm(draft, { force: true });
        // Whoever ended it knows why; the stream only knows that it broke off.
        signal.throwIfAborted();
        throw isDiskFull(error) ? storageFull(error) : error;
      } finally {
        promised -= maxBytes;
        underWay.delete(blob);
      }
    },

    async open(blob, range) {
      const handle = await open(pathOf(blob)).catch(noneIfMissing);
      return handle?.createReadStream(range);
    },

    async remove(blob) {
      await rm(pathOf(blob), { force: true });
    },

    async *strays(moment) {
      for (const name of await olderThan(unfinished, moment)) {
        if (!underWay.has(name)) await rm(join(unfinished, name), { force: true });
      }
      for (const shard of await readdir(folder)) {
        if (/^[0-9a-f]{2}$/.test(shard)) yield await olderThan(join(folder, shard), moment);
      }
    },

    async checkSpace(bytes) {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize - promised - bytes < minFree) throw storageFull();
    },

    async ping() {
      await access(unfinished, constants.W_OK);
    },
  };
}

async function writeDurably(path: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const size = await copy(bytes, handle, maxBytes, signal);
    await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

async function copy(bytes: Readable, handle: FileHandle, maxBytes: number, signal: AbortSignal): Promise<number> {
  let size = 0;
  for await (const chunk of chunksUntil(signal, bytes)) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new PoproomError('FILE_TOO_LARGE', `A file may have at most ${maxBytes} bytes.`, {
        details: { maximum: maxBytes },
      });
    }
    await handle.writeFile(chunk);
  }
  return size;
}

/** The stream is the caller's: destroying it here would cut the connection before the refusal is sent. */
async function* chunksUntil(signal: AbortSignal, bytes: Readable): AsyncGenerator<Buffer> {
  const chunks = bytes.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => undefined);
  const giveUp = () => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([chunks.next(), aborted]);
      signal.throwIfAborted();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
    void chunks.return?.().then(undefined, () => undefined);
  }
}

async function olderThan(folder: string, moment: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await readdir(folder)) {
    const found = await stat(join(folder, name)).catch(noneIfMissing);
    if (found && found.mtimeMs < moment) old.push(name);
  }
  return old;
}

/** A rename is durable when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Names are hashes that core makes; anything else here is a mistake that must not reach the file system. */
function checked(blob: string): string {
  if (/^[0-9a-f]{64}$/.test(blob)) return blob;
  throw new PoproomError('INTERNAL', 'This is not the name of a blob.');
}

function noneIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function storageFull(cause?: unknown): PoproomError {
  return new PoproomError('STORAGE_FULL', 'The server has no room left for files.', { cause });
}
