/** Tries a bucket as uploads use it: an object is put, read and removed again. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openS3Blobs } from '../blobs/s3.ts';
import type { Bucket, Config } from '../config.ts';
import type { BlobStore } from '../core/ports.ts';

/** What went wrong, in the words of the store, and the number of its answer, if there was one. */
export interface BucketTrouble {
  name: string;
  status: number | undefined;
}

export type Reach = Pick<Config, 's3Endpoint' | 's3PathStyle'>;

/** Undefined when all went well. */
export async function examineBucket(bucket: Bucket, reach: Reach): Promise<BucketTrouble | undefined> {
  const spool = mkdtempSync(join(tmpdir(), 'poproom-doctor-'));
  try {
    const { s3Endpoint: endpoint, s3PathStyle } = reach;
    const pathStyle = s3PathStyle ?? endpoint !== undefined;
    const blobs = await openS3Blobs({ ...bucket, endpoint, pathStyle, spool, minFree: 0 });
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
