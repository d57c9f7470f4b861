/** The contract of blob stores, which every driver must pass. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { BlobStore, ByteRange } from '../../src/core/ports/files.ts';
import { unfinishedTests } from './unfinished-blobs.ts';

export interface BlobsUnderTest {
  blobs: BlobStore;
  /** Blobs, and what is left of uploads that did not become one. */
  countStored(): Promise<number>;
  dispose(): Promise<void>;
}

export type OpenBlobs = () => Promise<BlobsUnderTest>;

const KiB = 1024;
const largest = 10 * KiB * KiB;
const senderLeft = new Error('the sender left');
const unhurried = new AbortController().signal;

export function blobsContract(name: string, open: OpenBlobs): void {
  const fresh = async (t: TestContext) => {
    const under = await open();
    t.after(() => under.dispose());
    return under;
  };
  describe(`${name}: the contract of blob stores`, () => {
    describe('storing bytes', () => keepingTests(fresh));
    describe('rejecting bytes', () => refusalTests(fresh));
    describe('uploads that fail', () => brokenTests(fresh));
    describe('removing bytes', () => removalTests(fresh));
    describe('blobs in several requests', () => unfinishedTests(fresh));
  });
}

type Fresh = (t: TestContext) => Promise<BlobsUnderTest>;

function keepingTests(fresh: Fresh): void {
  it('[UP-2] returns a file of the maximum size byte for byte, and reports its size', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const name = newName();
    const bytes = randomBytes(largest);
    assert.equal(await blobs.put(name, inChunks(bytes, 64 * KiB), largest, unhurried), largest);
    assert.ok((await read(blobs, name)).equals(bytes), 'the bytes that were read are not those that were put');
    assert.equal(await countStored(), 1);
  });

  it('returns bytes that arrived in chunks of any size', async (t) => {
    const { blobs } = await fresh(t);
    const name = newName();
    const bytes = randomBytes(5000);
    await blobs.put(name, inChunks(bytes, 7), largest, unhurried);
    assert.deepEqual(await read(blobs, name), bytes);
  });

  it('[UP-2] stores an empty file', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const name = newName();
    assert.equal(await blobs.put(name, Readable.from([]), largest, unhurried), 0);
    assert.deepEqual(await read(blobs, name), Buffer.alloc(0));
    assert.equal(await countStored(), 1);
  });

  it('stores 20 concurrent files separately', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const files = Array.from({ length: 20 }, () => ({ name: newName(), bytes: randomBytes(100 * KiB) }));
    await Promise.all(files.map(({ name, bytes }) => blobs.put(name, inChunks(bytes, 10 * KiB), largest, unhurried)));
    for (const { name, bytes } of files) assert.ok((await read(blobs, name)).equals(bytes));
    assert.equal(await countStored(), 20);
  });

  const ranges: [what: string, range: ByteRange][] = [
    ['the first byte', { start: 0, end: 0 }],
    ['bytes in the middle, the last one included', { start: 1000, end: 2999 }],
    ['the last byte', { start: 99_999, end: 99_999 }],
    ['everything', { start: 0, end: 99_999 }],
  ];
  for (const [what, range] of ranges) {
    it(`[FILE-2] returns ${what} for a range`, async (t) => {
      const { blobs } = await fresh(t);
      const name = newName();
      const bytes = randomBytes(100_000);
      await put(blobs, name, bytes);
      assert.ok((await read(blobs, name, range)).equals(bytes.subarray(range.start, range.end + 1)));
    });
  }

  it('returns nothing under a name that was never stored', async (t) => {
    const { blobs } = await fresh(t);
    assert.equal(await blobs.open(newName(), undefined), undefined);
    assert.equal(await blobs.open(newName(), { start: 0, end: 9 }), undefined);
  });

  it('[MOVE-2] reports the size of a file, and undefined for a missing one', async (t) => {
    const { blobs } = await fresh(t);
    const [name, empty] = [newName(), newName()];
    await put(blobs, name, randomBytes(5000));
    await put(blobs, empty, Buffer.alloc(0));
    assert.deepEqual([await blobs.size(name), await blobs.size(empty)], [5000, 0]);
    assert.equal(await blobs.size(newName()), undefined);
  });

  it('returns nothing of a file that is still being stored', async (t) => {
    const { blobs } = await fresh(t);
    const name = newName();
    const source = new PassThrough();
    const upload = blobs.put(name, source, largest, unhurried);
    await send(source, randomBytes(KiB));
    assert.equal(await blobs.open(name, undefined), undefined);
    source.end();
    assert.equal(await upload, KiB);
    assert.equal((await read(blobs, name)).length, KiB);
  });

  it('[UP-4] [RUN-2] has space for a file and responds', async (t) => {
    const { blobs } = await fresh(t);
    await blobs.checkSpace(1);
    await blobs.ping();
  });
}

function refusalTests(fresh: Fresh): void {
  it('[UP-2] accepts exactly the maximum number of bytes', async (t) => {
    const { blobs } = await fresh(t);
    const name = newName();
    assert.equal(await blobs.put(name, inChunks(randomBytes(1000), 300), 1000, unhurried), 1000);
    assert.equal((await read(blobs, name)).length, 1000);
  });

  it('[UP-2] [UP-6] rejects one byte more, and keeps nothing', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const name = newName();
    const refused = blobs.put(name, inChunks(randomBytes(1001), 300), 1000, unhurried);
    await assert.rejects(refused, { code: 'FILE_TOO_LARGE' });
    assert.equal(await blobs.open(name, undefined), undefined);
    assert.equal(await countStored(), 0);
  });

  it('[UP-2] rejects an endless upload as soon as it is too long', { timeout: 60_000 }, async (t) => {
    const { blobs, countStored } = await fresh(t);
    await assert.rejects(blobs.put(newName(), endless(), KiB * KiB, unhurried), { code: 'FILE_TOO_LARGE' });
    assert.equal(await countStored(), 0);
  });

  it('leaves the source of a rejected upload open, so that its sender can receive the error', async (t) => {
    const { blobs } = await fresh(t);
    const source = endless();
    await assert.rejects(blobs.put(newName(), source, KiB, unhurried));
    assert.equal(source.destroyed, false);
    source.destroy();
  });
}

function brokenTests(fresh: Fresh): void {
  it('[UP-6] keeps nothing of an upload whose source fails, and reports the failure', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const name = newName();
    const source = new PassThrough();
    const upload = blobs.put(name, source, largest, unhurried);
    const failed = assert.rejects(upload, { message: 'the connection broke' });
    await send(source, randomBytes(KiB));
    source.destroy(new Error('the connection broke'));
    await failed;
    assert.equal(await blobs.open(name, undefined), undefined);
    assert.equal(await countStored(), 0);
  });

  it('[UP-6] keeps nothing of an upload whose source fails before its first byte', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const source = new PassThrough();
    t.after(() => source.destroy());
    const upload = blobs.put(newName(), source, largest, unhurried);
    assertHeard(source);
    source.destroy(new Error('the connection broke'));
    await assert.rejects(upload, { message: 'the connection broke' });
    assert.equal(await countStored(), 0);
  });

  it('[RUN-7] tolerates a source that fails after its upload was rejected', async (t) => {
    const { blobs } = await fresh(t);
    const source = endless();
    t.after(() => source.destroy());
    await assert.rejects(blobs.put(newName(), source, KiB, unhurried), { code: 'FILE_TOO_LARGE' });
    assertHeard(source);
  });

  it('[UP-6] keeps nothing of an upload whose source ends too early', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const source = new PassThrough();
    const failed = assert.rejects(blobs.put(newName(), source, largest, unhurried));
    await send(source, randomBytes(KiB));
    source.destroy();
    await failed;
    assert.equal(await countStored(), 0);
  });

  it('[UP-6] keeps nothing of an upload that was aborted before it started', async (t) => {
    const { blobs, countStored } = await fresh(t);
    for (const source of [Readable.from([]), inChunks(randomBytes(KiB), 100)]) {
      await assert.rejects(blobs.put(newName(), source, largest, AbortSignal.abort(senderLeft)), senderLeft);
    }
    assert.equal(await countStored(), 0);
  });

  it('[UP-6] keeps nothing of an upload that is aborted in the middle', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const giveUp = new AbortController();
    const source = new PassThrough();
    const failed = assert.rejects(blobs.put(newName(), source, largest, giveUp.signal), senderLeft);
    await send(source, randomBytes(KiB));
    giveUp.abort(senderLeft);
    source.end(randomBytes(KiB));
    await failed;
    assert.equal(await countStored(), 0);
  });

  it('[UP-6] [RUN-7] ends an upload that is aborted while its source is silent', { timeout: 60_000 }, async (t) => {
    const { blobs, countStored } = await fresh(t);
    const giveUp = new AbortController();
    const source = new PassThrough();
    t.after(() => source.destroy());
    const failed = assert.rejects(blobs.put(newName(), source, largest, giveUp.signal), senderLeft);
    await send(source, randomBytes(KiB));
    giveUp.abort(senderLeft);
    await failed;
    assert.equal(await countStored(), 0);
  });

  it('[UP-6] reports the abort reason, not the resulting failure of the source', async (t) => {
    const { blobs } = await fresh(t);
    const giveUp = new AbortController();
    const source = new PassThrough();
    const failed = assert.rejects(blobs.put(newName(), source, largest, giveUp.signal), senderLeft);
    await send(source, randomBytes(KiB));
    source.once('close', () => giveUp.abort(senderLeft));
    source.destroy();
    await failed;
  });

  it('[UP-6] accepts a file under the name of an upload that failed', async (t) => {
    const { blobs } = await fresh(t);
    const name = newName();
    await assert.rejects(blobs.put(name, inChunks(randomBytes(1001), 300), 1000, unhurried));
    await put(blobs, name, Buffer.from('again'));
    assert.equal(String(await read(blobs, name)), 'again');
  });
}

function removalTests(fresh: Fresh): void {
  it('removes one file and no other', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const [removed, kept] = [newName(), newName()];
    await put(blobs, removed, Buffer.from('removed'));
    await put(blobs, kept, Buffer.from('kept'));
    await blobs.remove(removed);
    assert.equal(await blobs.open(removed, undefined), undefined);
    assert.equal(String(await read(blobs, kept)), 'kept');
    assert.equal(await countStored(), 1);
  });

  it('accepts the removal of a file that does not exist', async (t) => {
    const { blobs, countStored } = await fresh(t);
    const name = newName();
    await blobs.remove(name);
    await put(blobs, name, Buffer.from('once'));
    assert.equal(await countStored(), 1);
    await blobs.remove(name);
    assert.equal(await countStored(), 0);
    await blobs.remove(name);
    assert.equal(await blobs.open(name, undefined), undefined);
  });

  it('[LIFE-5] lists all files that are older than a given time', async (t) => {
    const { blobs } = await fresh(t);
    const names = Array.from({ length: 10 }, newName);
    for (const name of names) await put(blobs, name, Buffer.from('old'));
    assert.deepEqual((await listOrphans(blobs, Date.now() + 60_000)).sort(), names.sort());
  });

  it('[LIFE-5] does not list younger files', async (t) => {
    const { blobs } = await fresh(t);
    await put(blobs, newName(), Buffer.from('young'));
    assert.deepEqual(await listOrphans(blobs, Date.now() - 60_000), []);
  });

  it('[LIFE-5] lists nothing in an empty store', async (t) => {
    const { blobs } = await fresh(t);
    assert.deepEqual(await listOrphans(blobs, Date.now() + 60_000), []);
  });

  it('[LIFE-5] can remove files while it lists them', async (t) => {
    const { blobs, countStored } = await fresh(t);
    for (let n = 0; n < 10; n++) await put(blobs, newName(), Buffer.from('old'));
    for await (const names of blobs.orphanBlobs(Date.now() + 60_000)) {
      for (const name of names) await blobs.remove(name);
    }
    assert.equal(await countStored(), 0);
  });

  it('[LIFE-5] does not touch an upload in progress', async (t) => {
    const { blobs } = await fresh(t);
    const name = newName();
    const source = new PassThrough();
    const upload = blobs.put(name, source, largest, unhurried);
    await send(source, Buffer.from('under way'));
    assert.deepEqual(await listOrphans(blobs, Date.now() - 60_000), []);
    source.end();
    await upload;
    assert.equal(String(await read(blobs, name)), 'under way');
  });
}

/** Names are hashes. */
export function newName(): string {
  return randomBytes(32).toString('hex');
}

export function put(blobs: BlobStore, name: string, bytes: Buffer): Promise<number> {
  return blobs.put(name, Readable.from([Buffer.from(bytes)]), largest, unhurried);
}

export async function listOrphans(blobs: BlobStore, moment: number): Promise<string[]> {
  return (await Array.fromAsync(blobs.orphanBlobs(moment))).flat();
}

async function read(blobs: BlobStore, name: string, range?: ByteRange): Promise<Buffer> {
  const bytes = await blobs.open(name, range);
  assert.ok(bytes, 'the blob should be there');
  return buffer(bytes);
}

function inChunks(bytes: Buffer, size: number): Readable {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, n) => bytes.subarray(n * size, (n + 1) * size)));
}

function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(64 * KiB));
    },
  });
}

/** An unhandled stream error would end the process, and this test run with it. */
function assertHeard(source: Readable): void {
  assert.ok(source.listenerCount('error') > 0, 'the error of the source is handled');
}

/** Done when the store has taken the chunk and waits for the next one. */
async function send(source: PassThrough, chunk: Buffer): Promise<void> {
  source.write(chunk);
  while (source.readableLength + source.writableLength > 0) await setImmediate();
}
