/** Uploads that are not whole yet: files of a folder to which nothing refers, and of which a failure leaves none. */
import { access, constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import { checkedName } from './blob-name.ts';
import { oldFiles } from './old-files.ts';
import { storageFull } from './storage-full.ts';

export interface DraftsOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
}

export interface Upload {
  blob: string;
  bytes: Readable;
  maxBytes: number;
  signal: AbortSignal;
}

export interface Draft {
  path: string;
  size: number;
  /** For writing; closed when the draft has been finished. */
  handle: FileHandle;
}

export interface Drafts {
  /** Writes the bytes down and returns how many they were. `finish` gets them whole, and takes the draft away. */
  write(upload: Upload, finish: (draft: Draft) => Promise<void>): Promise<number>;
  /** Removes what crashes left before `moment`. */
  removeOld(moment: number): Promise<void>;
  /** Rejects with STORAGE_FULL when a further file of this size would leave too little room. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}

export function openDrafts({ folder, minFree }: DraftsOptions): Drafts {
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  /** What uploads under way may still write. */
  let promised = 0;
  /** Whatever a clock that was set says of their age, these are no strays. */
  const underWay = new Set<string>();

  return {
    async write(upload, finish) {
      const { blob, bytes, maxBytes, signal } = upload;
      // Before the first read and after a refusal nobody else listens, and an unheard error would end the process.
      bytes.on('error', () => undefined);
      const path = join(folder, checkedName(blob));
      promised += maxBytes;
      underWay.add(blob);
      try {
        return await writeWhole(path, upload, finish);
      } catch (error) {
        await rm(path, { force: true });
        // Whoever ended it knows why; the stream only knows that it broke off.
        signal.throwIfAborted();
        throw isDiskFull(error) ? storageFull(error) : error;
      } finally {
        promised -= maxBytes;
        underWay.delete(blob);
      }
    },

    async removeOld(moment) {
      for (const name of await oldFiles(folder, moment)) {
        if (!underWay.has(name)) await rm(join(folder, name), { force: true });
      }
    },

    async checkSpace(bytes) {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize - promised - bytes < minFree) throw storageFull();
    },

    // Not by node:fs/promises: the first health check would wait for that to be loaded.
    ping: () =>
      new Promise((resolve, reject) => {
        access(folder, constants.W_OK, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

async function writeWhole(path: string, upload: Upload, finish: (draft: Draft) => Promise<void>): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const size = await copy(upload, handle);
    await finish({ path, size, handle });
    return size;
  } finally {
    await handle.close();
  }
}

async function copy({ bytes, maxBytes, signal }: Upload, handle: FileHandle): Promise<number> {
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

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
