/** The contract of blob stores for blobs that arrive in several requests. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import {
  type BlobAppend,
  type BlobProgress,
  type BlobStore,
  type UnfinishedBlob,
  unfinishedName,
} from '../../src/core/ports/files.ts';
import { type BlobsUnderTest, listOrphans, newName } from './blobs.ts';

type Fresh = (t: TestContext) => Promise<BlobsUnderTest>;

const MiB = 1024 * 1024;
/** A part of an object in S3. On disk, progress is saved after as many bytes. */
const partSize = 16 * MiB;
/** A full part and the rest. */
const twoParts = partSize + 2 * MiB + 5;
/** Two full parts and the rest. */
const threeParts = 2 * partSize + MiB + 5;
/** Shared by the tests, which do not change them. */
const randomSource = randomBytes(threeParts);
const someBytes = (size: number) => randomSource.subarray(0, size);

export function unfinishedTests(fresh: Fresh): void {
  it('[TUS-4] joins the bytes of several requests', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const bytes = randomBytes(100_000);
    const unfinished = unfinishedBlob(bytes.length);
    for (const [from, to] of [
      [0, 1],
      [1, 40_000],
      [40_000, 100_000],
    ] as const) {
      await append(blobs, unfinished, bytes.subarray(from, to));
      assert.equal(unfinished.received, to);
    }
    await assertFinished(blobs, unfinished, bytes);
    assert.equal(await countStored(), 1);
  });

  it('[TUS-4] joins large requests that end anywhere', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const bytes = someBytes(threeParts);
    const unfinished = unfinishedBlob(threeParts);
    for (const to of [3 * MiB, partSize + 2 * MiB, partSize + 2 * MiB + 1, 2 * partSize + 1, threeParts]) {
      await append(blobs, unfinished, bytes.subarray(unfinished.received, to));
      assert.equal(unfinished.received, to);
    }
    await assertFinished(blobs, unfinished, bytes);
    assert.equal(await countStored(), 1);
  });

  it('[TUS-4] keeps what has arrived when a request breaks', async (t) => {
    const { blobs } = await fresh(t);
    const bytes = someBytes(threeParts);
    const unfinished = unfinishedBlob(threeParts);
    for (const to of [1000, partSize + MiB, 2 * partSize + MiB]) {
      await assert.rejects(append(blobs, unfinished, bytes.subarray(unfinished.received, to), { breaksAtEnd: true }));
      assert.equal(unfinished.received, to);
    }
    await append(blobs, unfinished, bytes.subarray(unfinished.received));
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[TUS-4] continues from the last progress, wherever a crash interrupted a request', async (t) => {
    const { blobs } = await fresh(t);
    const bytes = someBytes(twoParts);
    const unfinished = unfinishedBlob(twoParts);
    await append(blobs, unfinished, bytes.subarray(0, MiB));
    const crash = async () => Promise.reject(new Error('the node crashed'));
    await assert.rejects(append(blobs, unfinished, bytes.subarray(MiB, twoParts - 5), { onProgress: crash }));
    assert.equal(unfinished.received, MiB);
    await append(blobs, unfinished, bytes.subarray(MiB));
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[TUS-4] finishes an empty blob', async (t) => {
    const { blobs } = await fresh(t);
    const unfinished = unfinishedBlob(0);
    await assertFinished(blobs, unfinished, Buffer.alloc(0));
  });

  it('[TUS-8] can be finished again after a crash', async (t) => {
    const { blobs } = await fresh(t);
    const bytes = someBytes(threeParts);
    const unfinished = unfinishedBlob(threeParts);
    await append(blobs, unfinished, bytes);
    await blobs.finish(unfinished);
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[TUS-3] rejects more bytes than were announced', async (t) => {
    const { blobs } = await fresh(t);
    const unfinished = unfinishedBlob(1000);
    await assert.rejects(append(blobs, unfinished, randomBytes(1001)), { code: 'FILE_TOO_LARGE' });
    const bytes = randomBytes(1000);
    unfinished.received = 0;
    await append(blobs, { ...unfinished, state: '' }, bytes);
  });

  it('[TUS-5] keeps bytes that match their checksum, and none that do not', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const bytes = someBytes(twoParts);
    const unfinished = unfinishedBlob(twoParts);
    const checksum = (part: Buffer) => ({ algorithm: 'sha1', digest: createHash('sha1').update(part).digest() });
    await append(blobs, unfinished, bytes.subarray(0, 5000), { checksum: checksum(bytes.subarray(0, 5000)) });
    assert.equal(unfinished.received, 5000);
    const damaged = append(blobs, unfinished, someBytes(partSize + MiB), { checksum: checksum(bytes.subarray(5000)) });
    await assert.rejects(damaged, { code: 'CHECKSUM_MISMATCH' });
    assert.equal(unfinished.received, 5000);
    assert.equal(await countStored(), 1, 'only the first request stored bytes');
    await append(blobs, unfinished, bytes.subarray(5000), { checksum: checksum(bytes.subarray(5000)) });
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[TUS-6] removes everything of an unfinished blob', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const unfinished = unfinishedBlob(twoParts);
    await append(blobs, unfinished, someBytes(partSize + MiB));
    assert.notEqual(await countStored(), 0);
    await blobs.remove(unfinishedName(unfinished.blob));
    assert.equal(await countStored(), 0);
    const complete = unfinishedBlob(1000);
    await append(blobs, complete, randomBytes(1000));
    await blobs.remove(unfinishedName(complete.blob));
    assert.equal(await countStored(), 0);
    await blobs.remove(unfinishedName(complete.blob));
  });

  it('[LIFE-5] removes what an interrupted request left beside a finished blob, and keeps the blob', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const bytes = someBytes(twoParts);
    const unfinished = unfinishedBlob(twoParts);
    const crash = async () => Promise.reject(new Error('the node crashed'));
    await assert.rejects(append(blobs, unfinished, bytes.subarray(0, partSize + MiB), { onProgress: crash }));
    await append(blobs, unfinished, bytes);
    await blobs.finish(unfinished);
    await blobs.removeLeftovers(unfinished.blob);
    assert.equal(await countStored(), 1);
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[LIFE-5] lists old unfinished blobs', async (t) => {
    const { blobs } = await fresh(t);
    const unfinished = unfinishedBlob(twoParts);
    await append(blobs, unfinished, randomBytes(1000));
    assert.deepEqual(await listOrphans(blobs, Date.now() - 60_000), []);
    const old = await listOrphans(blobs, Date.now() + 60_000);
    assert.deepEqual([...new Set(old)], [unfinishedName(unfinished.blob)]);
  });
}

export const unfinishedBlob = (size: number): UnfinishedBlob => ({ blob: newName(), size, received: 0, state: '' });

interface Sending {
  checksum?: BlobAppend['checksum'];
  breaksAtEnd?: boolean;
  onProgress?: BlobAppend['onProgress'];
}

/** Sends copies of the bytes, because the store may free them, and notes the progress in `unfinished`. */
export async function append(
  blobs: BlobStore,
  unfinished: UnfinishedBlob,
  bytes: Buffer,
  sending: Sending = {},
): Promise<void> {
  const noteProgress = async (progress: BlobProgress) => void Object.assign(unfinished, progress);
  const { checksum, breaksAtEnd = false, onProgress = noteProgress } = sending;
  const source = new PassThrough();
  const chunks = Readable.from(chunksOf(bytes));
  chunks.pipe(source, { end: !breaksAtEnd });
  if (breaksAtEnd) chunks.on('end', () => whenRead(source, () => source.destroy(new Error('the connection broke'))));
  await blobs.append({
    unfinished: { ...unfinished },
    bytes: source,
    signal: new AbortController().signal,
    checksum,
    onProgress,
  });
}

function whenRead(source: PassThrough, then: () => void): void {
  if (source.readableLength + source.writableLength === 0) then();
  else setImmediate(() => whenRead(source, then));
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield Buffer.from(bytes.subarray(at, at + 64 * 1024));
}

export async function assertFinished(blobs: BlobStore, unfinished: UnfinishedBlob, bytes: Buffer): Promise<void> {
  await blobs.finish(unfinished);
  let read = 0;
  // Compared chunk by chunk, because joining them would take longer.
  for await (const chunk of (await blobs.open(unfinished.blob, undefined)) ?? assert.fail('the blob should be there')) {
    assert.ok(bytes.subarray(read, read + chunk.length).equals(chunk), 'the bytes are those that were sent');
    read += chunk.length;
  }
  assert.equal(read, bytes.length);
  assert.equal(await blobs.size(unfinished.blob), bytes.length);
}
