/** Tests a bucket like uploads use it: stores, reads and removes an object. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore } from '../core/ports.ts';
import { openS3Blobs, type S3Options } from './s3.ts';

/** The error name of the store, and its HTTP status if it responded. */
export interface BucketTrouble {
  name: string;
  status: number | undefined;
}

/** Undefined if the test succeeds. */
export async function inspectBucket(bucket: Omit<S3Options, 'spool' | 'minFree'>): Promise<BucketTrouble | undefined> {
  const spool = mkdtempSync(join(tmpdir(), 'poproom-doctor-'));
  try {
    const blobs = await openS3Blobs({ ...bucket, spool, minFree: 0 });
    await blobs.ping();
    await testObject(blobs);
    return undefined;
  } catch (error) {
    const { name, status } = ((error as Error).cause ?? error) as Error & { status?: number };
    return { name, status };
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

/** Named like a blob, so that a server's next scan for orphaned bytes removes it if this test is interrupted. */
async function testObject(blobs: BlobStore): Promise<void> {
  const blob = randomBytes(32).toString('hex');
  await blobs.put(blob, Readable.from([Buffer.from(blob)]), blob.length, AbortSignal.timeout(20_000));
  try {
    const found = await blobs.open(blob, undefined);
    if (found === undefined || (await text(found)) !== blob)
      throw new Error('The object that was read differs from the one that was stored.');
  } finally {
    await blobs.remove(blob);
  }
}
