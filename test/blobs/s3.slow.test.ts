/** Files in a bucket: the contract of blob stores with both URL styles, and tests that only concern S3. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, before, describe, it, mock, type TestContext } from 'node:test';
import { openS3Blobs, type S3Options } from '../../src/blobs/s3.ts';
import type { BlobProgress, BlobStore } from '../../src/core/ports/files.ts';
import { type BlobsUnderTest, blobsContract, listOrphans, newName, put } from '../contract/blobs.ts';
import { append, assertFinished, unfinishedBlob } from '../contract/unfinished-blobs.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyS3 } from '../support/faulty-s3.ts';
import { openSockets } from '../support/process-stats.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

const hour = 3600_000;
/** S3 has 1,000. */
const keysPerPage = 50;

let s3: TestS3;
before(async () => {
  s3 = await startS3({ keysPerPage });
  Object.assign(process.env, s3.env);
});
after(() => s3.stop());

blobsContract('s3, bucket in the path', () => openFresh(() => ({ endpoint: s3.endpoint, pathStyle: true })));

describe('s3, virtual hosts', () => {
  // Systems differ in whether they look up names under .localhost.
  const lookup = dns.lookup as (...given: unknown[]) => void;
  const local = (host: string, ...rest: unknown[]) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);
  before(() => void mock.method(dns, 'lookup', local as typeof dns.lookup));
  after(() => mock.restoreAll());

  blobsContract('s3, bucket in the host name', () =>
    openFresh(() => ({ endpoint: s3.virtualHostEndpoint, pathStyle: false })),
  );
});

describe('s3: the numbers of parts', () => {
  const MiB = 1024 * 1024;
  const partSize = 16 * MiB;
  const bytes = randomBytes(3 * partSize + MiB);

  it('[TUS-11] start at 1 and have no gaps, wherever requests end or break', async (t) => {
    const { blobs, prefix } = await open(t);
    const unfinished = unfinishedBlob(bytes.length);
    await append(blobs, unfinished, bytes.subarray(0, partSize + MiB));
    const broken = bytes.subarray(unfinished.received, 2 * partSize + 2 * MiB);
    await assert.rejects(append(blobs, unfinished, broken, { breaksAtEnd: true }));
    await append(blobs, unfinished, bytes.subarray(unfinished.received));
    await assertFinished(blobs, unfinished, bytes);
    assert.deepEqual(s3.partNumbers(prefix + unfinished.blob), [1, 2, 3, 4]);
    const whole = newName();
    await blobs.put(whole, Readable.from([Buffer.from(bytes)]), bytes.length, new AbortController().signal);
    assert.deepEqual(s3.partNumbers(prefix + whole), [1, 2, 3, 4]);
  });

  it('[TUS-11] leave out the one that a crashed node may still be sending', async (t) => {
    const { blobs, prefix } = await open(t);
    const unfinished = unfinishedBlob(bytes.length);
    const stopAfterFirst = async (progress: BlobProgress) => {
      if (unfinished.received > 0) throw new Error('the node crashed');
      Object.assign(unfinished, progress);
    };
    await assert.rejects(append(blobs, unfinished, bytes, { onProgress: stopAfterFirst }), /crashed/);
    assert.equal(unfinished.received, partSize);
    const sent = s3.partNumbers(prefix + unfinished.blob);
    await append(blobs, unfinished, bytes.subarray(partSize));
    assert.deepEqual(s3.partNumbers(prefix + unfinished.blob), [...sent, 3, 4, 5]);
    await assertFinished(blobs, unfinished, bytes);
  });

  it('[TUS-11] leave out one that a node has announced, and may be sending when another node continues', async (t) => {
    const { blobs, prefix } = await open(t);
    const unfinished = unfinishedBlob(bytes.length);
    await append(blobs, unfinished, bytes.subarray(0, partSize));
    let saves = 0;
    const onProgress = async (progress: BlobProgress) => {
      if (++saves > 1) throw new Error('the node crashed');
      Object.assign(unfinished, progress);
    };
    await assert.rejects(append(blobs, unfinished, bytes.subarray(partSize), { onProgress }), /crashed/);
    assert.equal(unfinished.received, partSize);
    const sent = s3.partNumbers(prefix + unfinished.blob);
    await append(blobs, unfinished, bytes.subarray(partSize));
    assert.deepEqual(s3.partNumbers(prefix + unfinished.blob), [...sent, 3, 4, 5]);
    await assertFinished(blobs, unfinished, bytes);
  });
});

describe('s3: the bucket', () => {
  it('has each file under the prefix and its name, as application/octet-stream', async (t) => {
    const { blobs, prefix } = await open(t);
    const name = newName();
    await put(blobs, name, Buffer.from('bytes'));
    const path = s3.pathOf(prefix + name);
    assert.equal(await readFile(path, 'utf8'), 'bytes');
    const metadata = JSON.parse(await readFile(path.replace(/object$/, 'metadata.json'), 'utf8'));
    assert.equal(metadata['content-type'], 'application/octet-stream');
  });

  it('keeps its files when it is opened again', async (t) => {
    const { blobs, prefix } = await open(t);
    const name = newName();
    await put(blobs, name, Buffer.from('kept'));
    const again = await open(t, { prefix });
    assert.equal(await text(again.blobs, name), 'kept');
  });

  it('[LIFE-5] lists only old files as orphans', async (t) => {
    const { blobs, prefix } = await open(t);
    const [old, young] = [newName(), newName()];
    await put(blobs, old, Buffer.from('old'));
    await put(blobs, young, Buffer.from('young'));
    await age(s3.pathOf(prefix + old), 2 * hour);
    assert.deepEqual(await listOrphans(blobs, Date.now() - hour), [old]);
  });

  it('[LIFE-5] lists orphans in batches, however many there are', async (t) => {
    const { blobs, prefix } = await open(t);
    await put(blobs, newName(), Buffer.from('the first makes the folder'));
    const names = Array.from({ length: keysPerPage + 10 }, newName);
    await Promise.all(names.map((name) => writeFile(s3.pathOf(prefix + name), 'old')));
    const portions = await Array.fromAsync(blobs.orphanBlobs(Date.now() + hour));
    assert.deepEqual(
      portions.map((portion) => portion.length),
      [keysPerPage, 11],
    );
    assert.equal(new Set(portions.flat()).size, keysPerPage + 11);
  });

  for (const [mine, other] of [
    ['mine/', 'other/'],
    ['', 'other/'],
    ['mine/', 'mine/other/'],
    ['mine', 'mine-too'],
    ['a', 'ab'],
  ] as const) {
    it(`[LIFE-5] can be shared by the prefixes "${mine}" and "${other}"`, async (t) => {
      const [ours, theirs] = [await open(t, { prefix: mine }), await open(t, { prefix: other })];
      const [name, same] = [newName(), newName()];
      for (const { blobs } of [ours, theirs]) await put(blobs, same, Buffer.from('same'));
      await put(theirs.blobs, name, Buffer.from('theirs'));
      assert.deepEqual(await listOrphans(ours.blobs, Date.now() + hour), [same]);
      assert.deepEqual((await listOrphans(theirs.blobs, Date.now() + hour)).sort(), [name, same].sort());
      for (const blob of [same, name]) await ours.blobs.remove(blob);
      assert.equal(await text(theirs.blobs, same), 'same');
      assert.equal(await text(theirs.blobs, name), 'theirs');
      for (const blob of [same, name]) await theirs.blobs.remove(blob);
    });
  }

  it('[LIFE-5] lists nothing that others store beside its files', async (t) => {
    const { blobs, prefix } = await open(t);
    await put(blobs, newName(), Buffer.from('ours'));
    await writeFile(s3.pathOf(`${prefix}readme.txt`), 'not ours');
    assert.equal((await listOrphans(blobs, Date.now() + hour)).length, 1);
  });

  const notNames = ['', '../outside', 'A'.repeat(64), `${'a'.repeat(63)}/`, `${'a'.repeat(64)}\n`];
  for (const name of notNames) {
    it(`[UP-5] is not asked for the name ${JSON.stringify(name)}`, async (t) => {
      const { blobs, spool } = await open(t);
      await assert.rejects(put(blobs, name, Buffer.from('x')), { code: 'INTERNAL' });
      await assert.rejects(blobs.open(name, undefined), { code: 'INTERNAL' });
      await assert.rejects(blobs.remove(name), { code: 'INTERNAL' });
      assert.deepEqual(await readdir(spool), []);
    });
  }
});

describe('s3: connections', () => {
  it('are reused for the next file', async (t) => {
    const { blobs } = await open(t);
    await put(blobs, newName(), Buffer.from('first'));
    const sockets = await openSockets(process.pid);
    for (let n = 0; n < 10; n++) await put(blobs, newName(), Buffer.alloc(200_000));
    assert.ok((await openSockets(process.pid)) <= sockets, 'more sockets are open than after the first');
  });

  it('are closed when readers disconnect in the middle', async (t) => {
    const { blobs } = await open(t);
    const name = newName();
    await put(blobs, name, Buffer.alloc(10 * 1024 * 1024));
    const before = await openSockets(process.pid);
    for (let n = 0; n < 10; n++) {
      const bytes = await blobs.open(name, undefined);
      for await (const _ of bytes ?? []) break;
    }
    await eventually('the connections are closed', async () => (await openSockets(process.pid)) <= before);
  });
});

describe('s3: concurrent requests', () => {
  it('are answered while more readers pause than the default connection limit of the library', async (t) => {
    const { blobs } = await open(t);
    const name = newName();
    // More than a paused reader buffers, so its request does not end.
    await put(blobs, name, Buffer.alloc(1024 * 1024));
    for (let n = 0; n < 60; n++) {
      const reader = await blobs.open(name, undefined);
      t.after(() => reader?.destroy());
    }
    await blobs.ping();
  });

  it('to remove many files use few connections', async (t) => {
    let [now, most] = [0, 0];
    const endpoint = await startFaultyS3(t, (_, response) => {
      most = Math.max(most, ++now);
      response.once('close', () => --now);
      setTimeout(() => response.writeHead(204).end(), 100);
    });
    const { blobs } = await open(t, { endpoint });
    await Promise.all(Array.from({ length: 120 }, () => blobs.remove(newName())));
    assert.ok(most <= 50, `${most} requests ran concurrently`);
  });
});

describe('s3: the spool', () => {
  it('is accessible only to its owner, and empty after an upload', async (t) => {
    const { blobs, spool } = await open(t);
    const bytes = new PassThrough();
    const name = newName();
    const stored = blobs.put(name, bytes, 100, new AbortController().signal);
    bytes.write('half');
    await eventually('it is begun', async () => (await readdir(spool)).includes(name));
    assert.equal((await stat(spool)).mode & 0o777, 0o700);
    assert.equal((await stat(join(spool, name))).mode & 0o777, 0o600);
    bytes.end();
    await stored;
    assert.deepEqual(await readdir(spool), []);
  });

  it('[UP-6] [LIFE-5] removes old remains that a crash left', async (t) => {
    const { blobs, spool } = await open(t);
    const [old, young] = [newName(), newName()];
    const remains = [old, `${old}.next`, young, `${young}.next`, 'not-ours'];
    for (const name of remains) await writeFile(join(spool, name), 'half of it');
    for (const name of [old, `${old}.next`, 'not-ours']) await age(join(spool, name), 2 * hour);
    assert.deepEqual(await listOrphans(blobs, Date.now() - hour), []);
    assert.deepEqual((await readdir(spool)).sort(), ['not-ours', young, `${young}.next`].sort());
  });

  it('[LIFE-5] lists abandoned uploads in parts, however many there are', async (t) => {
    const { blobs, prefix } = await open(t);
    const { default: client } = await import('@aws-sdk/client-s3');
    const s3Client = new client.S3Client({ endpoint: s3.endpoint, forcePathStyle: true });
    const names = Array.from({ length: 25 }, newName);
    for (const name of names) {
      await s3Client.send(new client.CreateMultipartUploadCommand({ Bucket: s3.bucket, Key: prefix + name }));
    }
    const orphans = await listOrphans(blobs, Date.now() + hour);
    assert.deepEqual(orphans.sort(), names.map((name) => `${name}.part`).sort());
    await Promise.all(orphans.map((name) => blobs.remove(name)));
    assert.deepEqual(await listOrphans(blobs, Date.now() + hour), []);
  });

  it('[UP-4] rejects a file that would leave less than the minimum free', async (t) => {
    const { blobs } = await open(t, { minFree: Number.MAX_SAFE_INTEGER });
    await assert.rejects(blobs.checkSpace(0), { code: 'STORAGE_FULL' });
  });

  it('[RUN-2] does not respond when it is missing', async (t) => {
    const { blobs, spool } = await open(t);
    await blobs.ping();
    await rm(spool, { recursive: true });
    await assert.rejects(blobs.ping());
  });
});

let opened = 0;

/** All share the bucket, as installations may. */
async function openFresh(address: () => Pick<S3Options, 'endpoint' | 'pathStyle'>): Promise<BlobsUnderTest> {
  const spool = await mkdtemp(join(tmpdir(), 'poproom-spool-'));
  const prefix = `contract-${++opened}/`;
  const blobs = await openS3Blobs({ bucket: s3.bucket, prefix, ...address(), spool, minFree: 0 });
  const isOurs = (key: string) => key.startsWith(prefix);
  const stored = async () => [...(await s3.keys()), ...(await s3.pendingUploads()).map(({ key }) => key)];
  return {
    blobs,
    countStored: async () => (await stored()).filter(isOurs).length + (await readdir(spool)).length,
    dispose: () => rm(spool, { recursive: true }),
  };
}

async function open(t: TestContext, given: Partial<S3Options> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-spool-'));
  t.after(() => rm(folder, { recursive: true }));
  const spool = join(folder, 'spool');
  const prefix = given.prefix ?? `own-${++opened}/`;
  const blobs = await openS3Blobs({
    bucket: s3.bucket,
    endpoint: s3.endpoint,
    pathStyle: true,
    spool,
    minFree: 0,
    ...given,
    prefix,
  });
  return { blobs, prefix, spool };
}

async function text(blobs: BlobStore, name: string): Promise<string> {
  const bytes = await blobs.open(name, undefined);
  return Buffer.concat((await bytes?.toArray()) ?? []).toString();
}

async function age(path: string, agoMs: number): Promise<void> {
  const moment = new Date(Date.now() - agoMs);
  await utimes(path, moment, moment);
}
