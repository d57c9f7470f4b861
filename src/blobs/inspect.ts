/** Tests a bucket like uploads use it: stores an object in one piece and in parts, reads it and removes it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore } from '../core/ports/files.ts';
import { defaultTimeouts, openS3Blobs, type S3Options } from './s3.ts';
import { openS3Objects, type S3Objects } from './s3-objects.ts';

/** The operation that failed: an object in one piece, one in parts, or listing and aborting an unfinished one. */
type BucketStep = 'object' | 'parts' | 'unfinished';

export interface BucketTrouble {
  step: BucketStep;
  /** The error name of the store, and its HTTP status if it responded. */
  name: string;
  status: number | undefined;
  /** The code and the message of the system if the store did not respond. They contain no credentials. */
  code: string | undefined;
  message: string;
}

/** S3 requires this for all parts but the last. */
const partBytes = 5 * 1024 * 1024;

/** A server would rather fail and try again. Here, a delay is not a problem to report. */
const timeouts = { ...defaultTimeouts, connect: 5000 };

/** Undefined if the test succeeds. */
export async function inspectBucket(bucket: Omit<S3Options, 'spool' | 'minFree'>): Promise<BucketTrouble | undefined> {
  const spool = mkdtempSync(join(tmpdir(), 'poproom-doctor-'));
  let step: BucketStep = 'object';
  try {
    const blobs = await openS3Blobs({ ...bucket, spool, minFree: 0 }, timeouts);
    await blobs.ping();
    await testObject(blobs);
    step = 'parts';
    const objects = await openS3Objects(bucket, timeouts);
    await testParts(objects, join(spool, 'part'));
    step = 'unfinished';
    await testUnfinished(objects);
    return undefined;
  } catch (error) {
    const cause = ((error as Error).cause ?? error) as Error & { status?: number; code?: string };
    return { step, name: cause.name, status: cause.status, code: cause.code, message: cause.message };
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

/** Named like a blob, so that a server's next scan for orphaned bytes removes it if this test is interrupted. */
const newName = () => randomBytes(32).toString('hex');

async function testObject(blobs: BlobStore): Promise<void> {
  const blob = newName();
  await blobs.put(blob, Readable.from([Buffer.from(blob)]), blob.length, AbortSignal.timeout(20_000));
  try {
    const found = await blobs.open(blob, undefined);
    if (found === undefined || (await text(found)) !== blob)
      throw new Error('The object that was read differs from the one that was stored.');
  } finally {
    await blobs.remove(blob);
  }
}

async function testParts(objects: S3Objects, path: string): Promise<void> {
  const key = newName();
  await writeFile(path, Buffer.alloc(partBytes));
  const uploadId = await objects.startParts(key);
  try {
    const signal = AbortSignal.timeout(60_000);
    const first = await objects.putPart(key, uploadId, 1, { path, start: 0, size: partBytes }, signal);
    const last = await objects.putPart(key, uploadId, 2, { path, start: 0, size: 1 }, signal);
    await objects.finishParts(key, uploadId, [first, last]);
    if ((await objects.size(key)) !== partBytes + 1)
      throw new Error('The object does not have the bytes of its parts.');
  } catch (error) {
    await objects.abortParts(key, uploadId).catch(() => undefined);
    throw error;
  } finally {
    await objects.remove(key);
  }
}

async function testUnfinished(objects: S3Objects): Promise<void> {
  const key = newName();
  const uploadId = await objects.startParts(key);
  const isListed = async () => (await objects.listParts(key)).some((upload) => upload.uploadId === uploadId);
  try {
    if (!(await isListed())) throw new Error('An unfinished upload is not listed.');
  } finally {
    await objects.abortParts(key, uploadId);
  }
  if (await isListed()) throw new Error('An aborted upload is still listed.');
}
