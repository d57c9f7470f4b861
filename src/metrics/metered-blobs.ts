/** Measures the operations of a blob store. */
import type { Readable } from 'node:stream';
import { hasCode, PoproomError } from '../core/errors.ts';
import type { BlobStore } from '../core/ports.ts';
import type { FileOperation, Instruments, UploadKind } from './instruments.ts';

export function meterBlobs(blobs: BlobStore, instruments: Instruments): BlobStore {
  const { running } = instruments;
  const uploadedBytes = instruments.uploadedBytes.with();

  async function measure<T>(operation: FileOperation, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    running.fileOperations += 1;
    try {
      const result = await work();
      instruments.fileOperations.with(operation).observe(secondsSince(startedAt));
      return result;
    } catch (error) {
      // A full disk is not a failing one.
      if (!hasCode(error, 'STORAGE_FULL')) instruments.fileErrors.with(operation).add();
      throw error;
    } finally {
      running.fileOperations -= 1;
    }
  }

  /** The speed of the client is not that of the store, so the measurement starts when all bytes have arrived. */
  async function receive<T>(operation: 'put' | 'append', { bytes, signal }: Incoming, work: () => Promise<T>) {
    let arrivedAt: number | undefined;
    bytes.once('end', () => {
      arrivedAt = performance.now();
    });
    running.uploads += 1;
    try {
      const result = await work();
      instruments.fileOperations.with(operation).observe(secondsSince(arrivedAt ?? performance.now()));
      return result;
    } catch (error) {
      if (isFailure(error, signal, bytes)) instruments.fileErrors.with(operation).add();
      else instruments.uploadInterruptions.with(kinds[operation]).add();
      throw error;
    } finally {
      running.uploads -= 1;
    }
  }

  return {
    ...blobs,

    async put(blob, bytes, maxBytes, signal) {
      const size = await receive('put', { bytes, signal }, () => blobs.put(blob, bytes, maxBytes, signal));
      uploadedBytes.add(size);
      return size;
    },

    append(append) {
      let received = append.unfinished.received;
      const onProgress: typeof append.onProgress = (progress) => {
        uploadedBytes.add(progress.received - received);
        received = progress.received;
        return append.onProgress(progress);
      };
      return receive('append', append, () => blobs.append({ ...append, onProgress }));
    },

    finish: (unfinished) => measure('finish', () => blobs.finish(unfinished)),
    open: (blob, range) => measure('open', () => blobs.open(blob, range)),
    size: (blob) => measure('size', () => blobs.size(blob)),
    checkSpace: (bytes) => measure('space', () => blobs.checkSpace(bytes)),
    remove: (name) => measure('remove', () => blobs.remove(name)),
    removeLeftovers: (blob) => measure('remove', () => blobs.removeLeftovers(blob)),
  };
}

interface Incoming {
  bytes: Readable;
  signal: AbortSignal;
}

const kinds: Record<'put' | 'append', UploadKind> = { put: 'whole', append: 'resumable' };

const secondsSince = (moment: number) => (performance.now() - moment) / 1000;

/** Whether the store failed, and neither the client nor a limit ended the upload. */
function isFailure(error: unknown, signal: AbortSignal, bytes: Readable): boolean {
  if (signal.aborted || error === bytes.errored) return false;
  if (error instanceof PoproomError) return ['UNAVAILABLE', 'STORAGE_FULL', 'INTERNAL'].includes(error.code);
  return bytes.readableEnded || !bytes.destroyed;
}
