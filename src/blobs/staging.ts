/** Uploads that are not whole yet: files of a folder to which nothing refers, and of which a failure leaves none. */
import { access, constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PoproomError } from '../core/errors.ts';
import { checkedName } from './blob-name.ts';
import { oldFiles } from './old-files.ts';
import { storageFull } from './storage-full.ts';

export interface StagingOptions {
  folder: string;
  /** Bytes that must stay free on the disk. */
  minFree: number;
}

export interface BlobUpload {
  blob: string;
  bytes: Readable;
  maxBytes: number;
  signal: AbortSignal;
}

export interface StagedFile {
  path: string;
  size: number;
  /** For writing; closed when the staged has been finished. */
  handle: FileHandle;
}

export interface Staging {
  /** Writes the bytes down and returns how many they were. `finish` gets them whole, and takes the staged away. */
  write(upload: BlobUpload, finish: (staged: StagedFile) => Promise<void>): Promise<number>;
  /** Removes what crashes left before `moment`. */
  removeOld(moment: number): Promise<void>;
  /** Rejects with STORAGE_FULL when a further file of this size would leave too little room. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}

export function openStaging({ folder, minFree }: StagingOptions): Staging {
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
      // Not before: whoever writes as soon as this is answered has promised its bytes when the next answer is given.
      if (bavail * bsize - promised - bytes < minFree) throw storageFull();
    },

    // Not by node:fs/promises: the first health check would wait for that to be loaded.
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

/** What is held of one upload while the disk is busy with what came before. */
const maxHeld = 256 * 1024;
/** A chunk of one byte is an object too: counted as less, a sender of many would fill the memory. */
const minPerChunk = 1024;

/**
 * Event by event, and all that came meanwhile in one write: an async iterator over the chunks would cost more than
 * writing them. The stream is the caller's, and destroying it here would cut the connection before the refusal is sent.
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
          batch.forEach(release);
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
    const cutOff = () => fail(bytes.errored ?? new Error('The stream ended before its last byte.'));
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

/** A disk that is nearly full takes a part of it, and says only the next time that it is full. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (bytesWritten < length) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}

/** Gives memory back that is nobody else's: the collector would wait until there are 64 MiB of it. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function tooLarge(maximum: number): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', `There are more bytes than the ${maximum} that were to come.`);
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
