/** Blobs in a folder. Bytes are complete, synced and under their final name before anything references them. */
import { once } from 'node:events';
import { createReadStream, readdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../core/errors.ts';
import { type BlobAppend, type BlobStore, unfinishedName } from '../core/ports/files.ts';
import { bytesLost, receive } from './receive.ts';
import { checkedName, isBlobName, noneIfMissing, oldFiles, openStaging, writeAll } from './staging.ts';

/** Twice Node's default: half as many reads per file, and still little memory for a slow reader. */
const readChunkBytes = 128 * 1024;

/** A crash loses at most this much of a running upload. */
const progressEveryBytes = 16 * 1024 * 1024;

interface DiskOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
  /** Whether no other process uses the folder. */
  isLocked?: boolean | undefined;
}

export function openDiskBlobs({ folder, minFree, isLocked = false }: DiskOptions): BlobStore {
  const staging = openStaging({ folder: join(folder, 'unfinished'), minFree });
  // Before the first upload: afterwards, they could not be told from those of this process.
  let abandoned = isLocked ? readdirSync(join(folder, 'unfinished')).filter(isBlobName).map(unfinishedName) : [];

  const shardOf = (blob: string) => join(folder, blob.slice(0, 2));
  const pathOf = (blob: string) => join(shardOf(checkedName(blob)), blob);
  const sizeOf = async (path: string) => (await stat(path).catch(noneIfMissing))?.size;

  async function publish(staged: string, blob: string): Promise<void> {
    const made = await mkdir(shardOf(blob), { recursive: true, mode: 0o700 });
    await rename(staged, pathOf(blob));
    try {
      await syncFolder(shardOf(blob));
      if (made) await syncFolder(folder);
    } catch (error) {
      // The file has its final name, but the upload fails, so nothing else would remove it.
      await rm(pathOf(blob), { force: true });
      throw error;
    }
  }

  return {
    async put(blob, bytes, maxBytes, signal) {
      return staging.write({ blob, bytes, maxBytes, signal }, async ({ path, handle }) => {
        await handle.sync();
        await publish(path, blob);
      });
    },

    async append(append) {
      const { blob, size, received } = append.unfinished;
      return staging.hold(blob, size - received, async () => {
        const handle = await openUnfinished(staging.pathOf(blob), received);
        await appendTo(handle, append).finally(() => handle.close());
      });
    },

    async finish({ blob, size }) {
      const path = staging.pathOf(blob);
      // No request has written an empty blob.
      const handle = await open(path, size === 0 ? 'a' : 'r+', 0o600).catch(noneIfMissing);
      // Without a file, it was finished before, or its bytes are lost.
      if (!handle && (await sizeOf(pathOf(blob))) === size) return;
      if (!handle) throw bytesLost();
      try {
        // The bytes of a rejected request may follow.
        await handle.truncate(size);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await publish(path, blob);
    },

    async open(blob, range) {
      // Not from a FileHandle, which creates a promise for each read.
      const bytes = createReadStream(pathOf(blob), { ...range, highWaterMark: readChunkBytes });
      return once(bytes, 'open').then(() => bytes, noneIfMissing);
    },

    size: async (blob) => sizeOf(pathOf(blob)),

    async remove(name) {
      const [blob = '', isUnfinished] = name.split('.');
      if (isUnfinished) await staging.remove(blob);
      else await rm(pathOf(blob), { force: true });
    },

    removeLeftovers: staging.remove,

    takeAbandoned() {
      const taken = abandoned;
      abandoned = [];
      return taken;
    },

    async *orphanBlobs(moment) {
      yield (await staging.oldFiles(moment)).map(unfinishedName);
      for (const shard of await readdir(folder)) {
        if (/^[0-9a-f]{2}$/.test(shard)) yield await oldFiles(join(folder, shard), moment);
      }
    },

    checkSpace: staging.checkSpace,
    ping: staging.ping,
  };
}

async function openUnfinished(path: string, received: number): Promise<FileHandle> {
  if (received === 0) return createDurably(path);
  const handle = await open(path, 'r+').catch(noneIfMissing);
  if (!handle) throw bytesLost();
  return handle;
}

/** Without a sync of its folder, a crash may lose a file whose bytes are durable. */
async function createDurably(path: string): Promise<FileHandle> {
  const handle = await open(path, 'w', 0o600);
  await syncFolder(dirname(path)).catch(async (error) => {
    await handle.close();
    throw error;
  });
  return handle;
}

async function appendTo(handle: FileHandle, { unfinished, onProgress, ...append }: BlobAppend): Promise<void> {
  const { size, received } = unfinished;
  let [at, durable] = [received, received];

  async function saveProgress(): Promise<void> {
    if (at === durable) return;
    await handle.datasync();
    durable = at;
    await onProgress({ received: at, state: '' });
  }

  const write = async (batch: readonly Buffer[]) => {
    at += await writeAll(handle, batch, at);
    if (!append.checksum && at - durable >= progressEveryBytes) await saveProgress();
  };
  try {
    await receive({ ...append, maxBytes: size - received, write });
  } catch (error) {
    if (!append.checksum && !hasCode(error, 'FILE_TOO_LARGE')) await saveProgress();
    throw error;
  }
  await saveProgress();
}

/** A rename is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
