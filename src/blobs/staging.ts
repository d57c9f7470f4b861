/** Incomplete uploads in a folder. Nothing references them, and a failed upload leaves no file. */
import { access, constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import { freeBuffer } from '../core/garbage.ts';
import { checkedName } from './blob-name.ts';
import { oldFiles } from './old-files.ts';
import { storageFull } from './storage-full.ts';

export interface StagingOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
}

interface BlobUpload {
  blob: string;
  bytes: Readable;
  maxBytes: number;
  signal: AbortSignal;
}

export interface StagedFile {
  path: string;
  size: number;
  /** For writing. Closed after `finish`. */
  handle: FileHandle;
}

export interface Staging {
  /** Writes the bytes to a file and returns their number. `finish` moves or removes the complete file. */
  write(upload: BlobUpload, finish: (staged: StagedFile) => Promise<void>): Promise<number>;
  /** Removes files that crashes left before `moment`. */
  removeOld(moment: number): Promise<void>;
  /** Rejects with STORAGE_FULL if another file of this size would leave too little space. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}

export function openStaging({ folder, minFree }: StagingOptions): Staging {
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  /** Bytes that running uploads may still write. */
  let reserved = 0;
  /** Running uploads, which are kept even if a changed clock makes their files look old. */
  const running = new Set<string>();

  return {
    async write(upload, finish) {
      const { blob, bytes, maxBytes, signal } = upload;
      // Before the first read and after a rejection nothing else handles errors; an unhandled one ends the process.
      bytes.on('error', () => undefined);
      const path = join(folder, checkedName(blob));
      reserved += maxBytes;
      running.add(blob);
      try {
        return await writeWhole(path, upload, finish);
      } catch (error) {
        await rm(path, { force: true });
        // The abort reason is more precise than the error of the stream.
        signal.throwIfAborted();
        throw isDiskFull(error) ? storageFull(error) : error;
      } finally {
        reserved -= maxBytes;
        running.delete(blob);
      }
    },

    async removeOld(moment) {
      for (const name of await oldFiles(folder, moment)) {
        if (!running.has(name)) await rm(join(folder, name), { force: true });
      }
    },

    async checkSpace(bytes) {
      const { bavail, bsize } = await statfs(folder);
      // Checked after the await, so that uploads that started during it are included in `reserved`.
      if (bavail * bsize - reserved - bytes < minFree) throw storageFull();
    },

    // Not node:fs/promises, which the first health check would have to load.
    ping: () =>
      new Promise((resolve, reject) => {
        access(folder, constants.W_OK, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

async function writeWhole(
  path: string,
  upload: BlobUpload,
  finish: (staged: StagedFile) => Promise<void>,
): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const size = await copy(upload, handle);
    await finish({ path, size, handle });
    return size;
  } finally {
    await handle.close();
  }
}

/** The bytes of an upload that are buffered while the disk is busy. */
const maxHeld = 256 * 1024;
/** The memory of a small chunk. Otherwise a client could fill the memory with chunks of one byte. */
const minPerChunk = 1024;

/**
 * Handles events and writes all waiting chunks at once: an async iterator would cost more than writing. The stream
 * belongs to the caller: destroying it would close the connection before the error is sent.
 */
function copy({ bytes, maxBytes, signal }: BlobUpload, handle: FileHandle): Promise<number> {
  let [size, held] = [0, 0];
  let waiting: Buffer[] = [];
  let isWriting = false;
  let state: 'reading' | 'read' | 'failed' = 'reading';

  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      size += chunk.length;
      held += Math.max(minPerChunk, chunk.length);
      if (size > maxBytes) return fail(tooLarge(maxBytes));
      waiting.push(chunk);
      if (held >= maxHeld) bytes.pause();
      if (!isWriting) void writeOut();
    };

    async function writeOut(): Promise<void> {
      isWriting = true;
      try {
        while (waiting.length > 0 && state !== 'failed') {
          const batch = waiting;
          waiting = [];
          held = 0;
          if (state === 'reading') bytes.resume();
          await writeAll(handle, batch);
          // The garbage collector would wait for 64 MiB of them.
          batch.forEach(freeBuffer);
        }
        isWriting = false;
        if (state === 'read') resolve(size);
      } catch (error) {
        fail(error);
      }
    }

    const end = () => {
      leave('read');
      if (!isWriting) resolve(size);
    };
    const fail = (error: unknown) => {
      leave('failed');
      reject(error);
    };
    const cutOff = () => fail(bytes.errored ?? new Error('The stream ended early.'));
    const giveUp = () => fail(signal.reason);

    function leave(now: 'read' | 'failed'): void {
      state = now;
      bytes.off('data', take).off('end', end).off('error', fail).off('close', cutOff).pause();
      signal.removeEventListener('abort', giveUp);
    }

    if (signal.aborted) return giveUp();
    if (bytes.destroyed) return cutOff();
    signal.addEventListener('abort', giveUp, { once: true });
    bytes.on('end', end).on('error', fail).on('close', cutOff).on('data', take);
  });
}

/** A nearly full disk writes only a part, and reports the error at the next write. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (bytesWritten < length) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}

function tooLarge(maximum: number): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', `The file exceeds the limit of ${maximum} bytes.`);
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
