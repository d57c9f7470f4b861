/** Tries a bucket as uploads use it: an object is put, read and removed again. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore } from '../core/ports.ts';
import { openS3Blobs, type S3Options } from './s3.ts';

/** What went wrong, in the words of the store, and the number of its answer, if there was one. */
export interface BucketTrouble {
  name: string;
  status: number | undefined;
}

/** Undefined when all went well. */
export async function inspectBucket(bucket: Omit<S3Options, 'spool' | 'minFree'>): Promise<BucketTrouble | undefined> {
  const spool = mkdtempSync(join(tmpdir(), 'poproom-doctor-'));
  try {
    const blobs = await openS3Blobs({ ...bucket, spool, minFree: 0 });
    await blobs.ping();
    await tryOut(blobs);
    return undefined;
  } catch (error) {
    const { name, status } = ((error as Error).cause ?? error) as Error & { status?: number };
    return { name, status };
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

/** Named as files are: if this breaks off in the middle, the next walk of a server over strays removes it. */
async function tryOut(blobs: BlobStore): Promise<void> {
  const blob = randomBytes(32).toString('hex');
  await blobs.put(blob, Readable.from([Buffer.from(blob)]), blob.length, AbortSignal.timeout(20_000));
  try {
    const found = await blobs.open(blob, undefined);
    if (found === undefined || (await text(found)) !== blob) throw new Error('What was put is not what is there.');
  } finally {
    await blobs.remove(blob);
  }
}
