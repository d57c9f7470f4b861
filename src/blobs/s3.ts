/** Blobs in an S3 bucket. An upload is spooled to the local disk, and sent in one piece or in parts. */
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type BlobStore, unfinishedName } from '../core/ports/blobs.ts';
import { openS3Objects, type S3Location, type Timeouts } from './s3-objects.ts';
import { finishParts, partSizeFor, receiveParts, removeLeftovers, removeParts } from './s3-parts.ts';
import { checkedName, isBlobName, openStaging, type StagedFile } from './staging.ts';

export interface S3Options extends S3Location {
  /** A local folder for incomplete uploads. */
  spool: string;
  /** Bytes that must stay free on that disk. */
  minFree: number;
}

export const defaultTimeouts: Timeouts = { connect: 1500, answer: 10_000, upload: 45_000, quiet: 2000, idle: 70_000 };

export async function openS3Blobs(options: S3Options, given: Partial<Timeouts> = {}): Promise<BlobStore> {
  const { spool, minFree, ...location } = options;
  const staging = openStaging({ folder: spool, minFree });
  const objects = await openS3Objects(location, { ...defaultTimeouts, ...given });

  async function putWhole(blob: string, staged: StagedFile, signal: AbortSignal): Promise<void> {
    try {
      await objects.put(blob, { ...staged, start: 0 }, signal);
    } catch (error) {
      // The object may have been stored just before the abort. If this fails, the scan for orphaned bytes removes it.
      if (signal.aborted) await objects.remove(blob).catch(() => undefined);
      throw error;
    }
    await rm(staged.path);
  }

  /** For files that may be too large for one piece. */
  async function putParts(blob: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number> {
    bytes.on('error', () => undefined);
    try {
      const { received, state } = await receiveParts({
        ...{ objects, blob, spools: staging.pathsOf(blob), partSize: partSizeFor(maxBytes) },
        ...{ bytes, maxBytes, signal, checksum: undefined },
        progress: { received: 0, state: '' },
        isComplete: () => true,
        onProgress: async () => undefined,
      });
      await finishParts(objects, blob, received, state);
      return received;
    } catch (error) {
      await removeParts(objects, blob).catch(() => undefined);
      signal.throwIfAborted();
      throw error;
    }
  }

  return {
    async put(blob, bytes, maxBytes, signal) {
      const partSize = partSizeFor(maxBytes);
      checkedName(blob);
      if (maxBytes > partSize) {
        return staging.hold(blob, 2 * partSize, () => putParts(blob, bytes, maxBytes, signal));
      }
      return staging.write({ blob, bytes, maxBytes, signal }, (staged) => putWhole(blob, staged, signal));
    },

    async append({ unfinished, ...append }) {
      const { blob, size, received, state } = unfinished;
      const partSize = partSizeFor(size);
      append.bytes.on('error', () => undefined);
      return staging.hold(blob, 2 * partSize, async () => {
        await receiveParts({
          ...{ ...append, objects, blob, spools: staging.pathsOf(blob), partSize },
          ...{ maxBytes: size - received, progress: { received, state } },
          isComplete: (total) => total === size,
        });
      });
    },

    finish: async ({ blob, size, state }) => finishParts(objects, checkedName(blob), size, state),

    open: async (blob, range) => objects.get(checkedName(blob), range),
    size: async (blob) => objects.size(checkedName(blob)),

    async remove(name) {
      const [blob = '', isUnfinished] = name.split('.');
      if (isUnfinished) await removeParts(objects, checkedName(blob));
      else await objects.remove(checkedName(blob));
    },

    removeLeftovers: async (blob) => removeLeftovers(objects, checkedName(blob)),

    // All nodes share the bucket.
    takeAbandoned: () => [],

    async *orphanBlobs(moment) {
      for (const blob of await staging.oldFiles(moment)) await staging.remove(blob);
      for await (const page of objects.list()) {
        yield page.filter(({ lastModified }) => lastModified < moment).flatMap(({ key }) => nameOf(key));
      }
      const unfinished = (await objects.listParts()).filter(({ lastModified }) => lastModified < moment);
      if (unfinished.length > 0) yield unfinished.flatMap(({ key }) => (isBlobName(key) ? [unfinishedName(key)] : []));
    },

    // The local disk holds only the parts that are being received and sent.
    checkSpace: (bytes) => staging.checkSpace(Math.min(bytes, 2 * partSizeFor(bytes))),

    async ping() {
      await staging.ping();
      await objects.ping();
    },
  };
}

/** The blob of an object: its key, or the key of a tail without its suffix. */
function nameOf(key: string): string[] {
  const [blob = '', suffix] = key.split('.');
  if (!isBlobName(blob)) return [];
  return [suffix === undefined ? blob : unfinishedName(blob)];
}
