/** Incomplete uploads in a folder. Nothing references the bytes of one that fails, and it leaves no file. */
import { access, constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import { receive, storageFull } from './receive.ts';

type BlobUpload = { blob: string; bytes: Readable; maxBytes: number; signal: AbortSignal };

export interface StagedFile {
  path: string;
  size: number;
  /** For writing. Closed after `finish`. */
  handle: FileHandle;
}

const secondSuffix = '.next';

/** `minFree`: bytes that must stay free on the disk. */
export function openStaging({ folder, minFree }: { folder: string; minFree: number }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  /** Bytes that running uploads may still write. */
  let reserved = 0;
  /** Running uploads, which are kept even if a changed clock makes their files look old. */
  const running = new Set<string>();

  const pathOf = (blob: string) => join(folder, checkedName(blob));
  /** For an upload that fills one file while it sends another one. */
  const pathsOf = (blob: string): [string, string] => [pathOf(blob), pathOf(blob) + secondSuffix];

  /** Runs a task that writes up to `maxBytes` to the file of a blob, which is protected from `oldFiles`. */
  async function hold<T>(blob: string, maxBytes: number, task: () => Promise<T>): Promise<T> {
    reserved += maxBytes;
    running.add(blob);
    try {
      return await task();
    } catch (error) {
      throw isDiskFull(error) ? storageFull(error) : error;
    } finally {
      reserved -= maxBytes;
      running.delete(blob);
    }
  }

  return {
    pathOf,
    pathsOf,
    hold,

    /** Writes the bytes to a file and returns their number. `finish` moves or removes the complete file. */
    async write(upload: BlobUpload, finish: (staged: StagedFile) => Promise<void>): Promise<number> {
      const { blob, bytes, maxBytes, signal } = upload;
      // Before the first read and after a rejection nothing else handles errors; an unhandled one ends the process.
      bytes.on('error', () => undefined);
      const path = pathOf(blob);
      return hold(blob, maxBytes, async () => {
        try {
          // A migration that was killed may have left a part of the file.
          await using handle = await open(path, 'w', 0o600);
          let at = 0;
          const write = async (batch: readonly Buffer[]) => {
            at += await writeAll(handle, batch, at);
          };
          const size = await receive({ ...upload, write });
          await finish({ path, size, handle });
          return size;
        } catch (error) {
          await rm(path, { force: true });
          // The abort reason is more precise than the error of the stream.
          signal.throwIfAborted();
          throw error;
        }
      });
    },

    /** The blobs of files that nothing has written to since `moment`. */
    async oldFiles(moment: number): Promise<string[]> {
      const names = await oldFiles(folder, moment);
      const blobs = new Set(names.map((name) => name.replace(secondSuffix, '')));
      return [...blobs].filter((blob) => isBlobName(blob) && !running.has(blob));
    },

    async remove(blob: string): Promise<void> {
      await Promise.all(pathsOf(blob).map((path) => rm(path, { force: true })));
    },

    /** Rejects with STORAGE_FULL if another file of this size would leave too little space. */
    async checkSpace(bytes: number): Promise<void> {
      const { bavail, bsize } = await statfs(folder);
      // Checked after the await, so that uploads that started during it are included in `reserved`.
      if (bavail * bsize - reserved - bytes < minFree) throw storageFull();
    },

    // Not node:fs/promises, which the first health check would have to load.
    ping: () =>
      new Promise<void>((resolve, reject) => {
        access(folder, constants.W_OK, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * Writes the chunks at a position and returns their length. A nearly full disk writes only a part of them, and reports
 * the error at the next write.
 */
export async function writeAll(handle: FileHandle, chunks: readonly Buffer[], position: number): Promise<number> {
  const { bytesWritten } = await handle.writev(chunks, position);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  for (let written = bytesWritten; written < length; ) {
    const rest = Buffer.concat(chunks).subarray(written);
    written += (await handle.write(rest, 0, rest.length, position + written)).bytesWritten;
  }
  return length;
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The names of blobs are hashes that the core creates. */
export const isBlobName = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** Only a hash may reach the file system or a bucket. */
export function checkedName(blob: string): string {
  if (isBlobName(blob)) return blob;
  throw new PoproomError('INTERNAL', 'Invalid blob name.');
}

/** For reads of files that may be removed concurrently. */
export function noneIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** The names of files in a folder that were last written before a moment. */
export async function oldFiles(folder: string, moment: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await readdir(folder)) {
    const found = await stat(join(folder, name)).catch(noneIfMissing);
    if (found && found.mtimeMs < moment) old.push(name);
  }
  return old;
}
