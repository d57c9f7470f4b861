/** Blobs in a folder. Bytes are complete, synced and under their final name before anything references them. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../core/ports.ts';
import { checkedName } from './blob-name.ts';
import { noneIfMissing } from './missing-file.ts';
import { oldFiles } from './old-files.ts';
import { openStaging } from './staging.ts';

/** Twice Node's default: half as many reads per file, and still little memory for a slow reader. */
const readChunkBytes = 128 * 1024;

export interface DiskOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
}

export function openDiskBlobs({ folder, minFree }: DiskOptions): BlobStore {
  const staging = openStaging({ folder: join(folder, 'unfinished'), minFree });

  const shardOf = (blob: string) => join(folder, blob.slice(0, 2));
  const pathOf = (blob: string) => join(shardOf(checkedName(blob)), blob);

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
    put(blob, bytes, maxBytes, signal) {
      return staging.write({ blob, bytes, maxBytes, signal }, async ({ path, handle }) => {
        await handle.sync();
        await publish(path, blob);
      });
    },

    async open(blob, range) {
      // Not from a FileHandle, which creates a promise for each read.
      const bytes = createReadStream(pathOf(blob), { ...range, highWaterMark: readChunkBytes });
      return once(bytes, 'open').then(() => bytes, noneIfMissing);
    },

    async size(blob) {
      return (await stat(pathOf(blob)).catch(noneIfMissing))?.size;
    },

    async remove(blob) {
      await rm(pathOf(blob), { force: true });
    },

    async *orphanBlobs(moment) {
      await staging.removeOld(moment);
      for (const shard of await readdir(folder)) {
        if (/^[0-9a-f]{2}$/.test(shard)) yield await oldFiles(join(folder, shard), moment);
      }
    },

    checkSpace: staging.checkSpace,
    ping: staging.ping,
  };
}

/** A rename is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
