/** Receives the bytes of an upload and hands them on in batches. */
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { freeBuffer } from '../core/defence/garbage.ts';
import { byteCount, PoproomError } from '../core/errors.ts';
import type { Checksum } from '../core/ports/files.ts';

interface Receipt {
  bytes: Readable;
  maxBytes: number;
  signal: AbortSignal;
  /** Writes a batch. The next one arrives when the promise has settled. The chunks are freed afterwards. */
  write: (batch: readonly Buffer[]) => Promise<void>;
  /** The expected checksum of all bytes. */
  checksum?: Checksum | undefined;
}

/** The bytes of an upload that are buffered while the disk is busy. */
const maxHeld = 256 * 1024;
/** The memory of a small chunk. Otherwise a client could fill the memory with chunks of one byte. */
const minPerChunk = 1024;

/**
 * Resolves to the number of bytes when the stream has ended. If it breaks or `signal` aborts, bytes that have arrived
 * are written before the promise rejects.
 *
 * Handles events and writes all waiting chunks at once: an async iterator would cost more than writing. The stream
 * belongs to the caller: destroying it would close the connection before the error is sent.
 */
export function receive({ bytes, maxBytes, signal, write, checksum }: Receipt): Promise<number> {
  let [size, held] = [0, 0];
  let waiting: Buffer[] = [];
  let isWriting = false;
  let state: 'reading' | 'ended' | 'broken' | 'failed' = 'reading';
  const hash = checksum && createHash(checksum.algorithm);

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
        while (waiting.length > 0 && state !== 'failed') await writeBatch();
        isWriting = false;
        settle();
      } catch (error) {
        fail(error);
      }
    }

    async function writeBatch(): Promise<void> {
      const batch = waiting;
      waiting = [];
      held = 0;
      if (state === 'reading') bytes.resume();
      if (hash) for (const chunk of batch) hash.update(chunk);
      await write(batch);
      // The garbage collector would wait for 64 MiB of them.
      batch.forEach(freeBuffer);
    }

    let breakReason: unknown;
    function settle(): void {
      if (state === 'broken') reject(breakReason);
      if (state === 'ended' && hash && !matches(hash, checksum)) reject(checksumMismatch());
      else if (state === 'ended') resolve(size);
    }

    const end = () => {
      leave('ended');
      if (!isWriting) settle();
    };
    const fail = (error: unknown) => {
      leave('failed');
      reject(error);
    };
    const breakOff = (reason: unknown) => {
      leave('broken');
      breakReason = reason;
      if (!isWriting) settle();
    };
    const onClose = () => breakOff(bytes.errored ?? new Error('The stream ended early.'));
    const onAbort = () => breakOff(signal.reason);

    function leave(next: 'ended' | 'broken' | 'failed'): void {
      state = next;
      bytes.off('data', take).off('end', end).off('error', breakOff).off('close', onClose).pause();
      signal.removeEventListener('abort', onAbort);
    }

    if (signal.aborted) return onAbort();
    if (bytes.destroyed) return onClose();
    signal.addEventListener('abort', onAbort, { once: true });
    bytes.on('end', end).on('error', breakOff).on('close', onClose).on('data', take);
  });
}

const matches = (hash: Hash, checksum: Checksum | undefined) => checksum?.digest.equals(hash.digest()) ?? true;

export const storageFull = (cause?: unknown): PoproomError =>
  new PoproomError('STORAGE_FULL', 'The server has no space left for files.', { cause });

/** The bytes of an upload that is on record are missing. */
export const bytesLost = (): PoproomError =>
  new PoproomError('UPLOAD_NOT_FOUND', 'The bytes of this upload are lost. Start it again.');

const tooLarge = (maximum: number): PoproomError =>
  new PoproomError('FILE_TOO_LARGE', `The file exceeds the limit of ${byteCount(maximum)}.`);

const checksumMismatch = (): PoproomError =>
  new PoproomError('CHECKSUM_MISMATCH', 'The bytes do not match their checksum. They were not stored.');
