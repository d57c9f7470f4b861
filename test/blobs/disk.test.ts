/** Files in a folder: the contract of blob stores, and tests that only concern a disk. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { unfinishedName } from '../../src/core/ports/files.ts';
import { blobsContract, listOrphans, newName, put } from '../contract/blobs.ts';
import { eventually } from '../support/eventually.ts';

blobsContract('disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-disk-'));
  return {
    blobs: openDiskBlobs({ folder, minFree: 0 }),
    countStored: async () => (await filesIn(folder)).length,
    dispose: () => rm(folder, { recursive: true }),
  };
});

describe('disk: space', () => {
  it('[UP-4] rejects a file that would leave less than the minimum free', async (t) => {
    const blobs = openDiskBlobs({ folder: await temporaryFolder(t), minFree: Number.MAX_SAFE_INTEGER });
    await assert.rejects(blobs.checkSpace(0), { code: 'STORAGE_FULL' });
  });

  it('[UP-4] rejects a file that is larger than the free space', async (t) => {
    const blobs = openDiskBlobs({ folder: await temporaryFolder(t), minFree: 0 });
    await blobs.checkSpace(0);
    await assert.rejects(blobs.checkSpace(Number.MAX_SAFE_INTEGER), { code: 'STORAGE_FULL' });
  });

  it('[UP-4] counts the bytes that running uploads may still write', async (t) => {
    const blobs = openDiskBlobs({ folder: await temporaryFolder(t), minFree: 0 });
    const [source, most] = [new PassThrough(), await mostOfDisk()];
    const upload = blobs.put(newName(), source, most, new AbortController().signal);
    await assert.rejects(blobs.checkSpace(most), { code: 'STORAGE_FULL' });
    source.end();
    await upload;
    await blobs.checkSpace(most);
  });

  it('[UP-4] admits one of many concurrent uploads when there is space for one', async (t) => {
    const folder = await temporaryFolder(t);
    const blobs = openDiskBlobs({ folder, minFree: 0 });
    const most = await mostOfDisk();
    const begin = async () => {
      await blobs.checkSpace(most);
      return blobs.put(newName(), Readable.from([Buffer.from('x')]), most, new AbortController().signal);
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, begin));
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason.code);
    assert.deepEqual(refusals, Array(4).fill('STORAGE_FULL'));
    assert.equal((await filesIn(folder)).length, 1);
    await blobs.checkSpace(most);
  });

  it('[UP-4] no longer counts an upload that has failed', async (t) => {
    const blobs = openDiskBlobs({ folder: await temporaryFolder(t), minFree: 0 });
    const [source, most] = [new PassThrough(), await mostOfDisk()];
    const refused = blobs.put(newName(), source, most, AbortSignal.abort());
    source.end();
    await assert.rejects(refused);
    await blobs.checkSpace(most);
  });
});

describe('disk: a file in tiny chunks', () => {
  it('[RUN-7] buffers a few hundred chunks at a time, however fast they arrive, and stores the file completely', async (t) => {
    const blobs = openDiskBlobs({ folder: await temporaryFolder(t), minFree: 0 });
    const [name, source] = [newName(), new PassThrough()];
    const upload = blobs.put(name, source, 10_000, new AbortController().signal);
    await eventually('it is read', () => source.readableFlowing === true);
    let taken = 0;
    source.on('data', () => {
      taken += 1;
    });
    const pieces = Array.from({ length: 5000 }, (_, n) => Buffer.from([n % 251]));
    for (const piece of pieces) source.write(piece);
    assert.ok(taken > 0 && taken <= 600, `${taken} were taken before the first was written`);
    assert.ok(source.isPaused());
    source.end();
    assert.equal(await upload, pieces.length);
    const read = await (await blobs.open(name, undefined))?.toArray();
    assert.deepEqual(Buffer.concat(read ?? []), Buffer.concat(pieces));
  });
});

describe('disk: the folder', () => {
  it('is accessible only to its owner, and so is every file in it', async (t) => {
    const folder = join(await temporaryFolder(t), 'files');
    await put(openDiskBlobs({ folder, minFree: 0 }), newName(), Buffer.from('private'));
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
    }
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });

  it('keeps its files when it is opened again', async (t) => {
    const folder = await temporaryFolder(t);
    const name = newName();
    await put(openDiskBlobs({ folder, minFree: 0 }), name, Buffer.from('kept'));
    const again = await openDiskBlobs({ folder, minFree: 0 }).open(name, undefined);
    assert.equal(String((await again?.toArray())?.join('')), 'kept');
  });

  it('[UP-6] [LIFE-5] lists old remains of uploads that a crash left', async (t) => {
    const folder = await temporaryFolder(t);
    const blobs = openDiskBlobs({ folder, minFree: 0 });
    const [old, young] = [await leaveBehind(folder, 2 * hour), await leaveBehind(folder, 0)];
    assert.deepEqual(await listOrphans(blobs, Date.now() - hour), [unfinishedName(old)]);
    await blobs.remove(unfinishedName(old));
    assert.deepEqual(await filesIn(folder), [young]);
  });

  it('[LIFE-5] does not remove an upload in progress, whatever the clock says', async (t) => {
    const folder = await temporaryFolder(t);
    const blobs = openDiskBlobs({ folder, minFree: 0 });
    const bytes = new PassThrough();
    const name = newName();
    const stored = blobs.put(name, bytes, 100, new AbortController().signal);
    bytes.write('first half, ');
    await eventually('it is begun', async () => (await readdir(join(folder, 'unfinished'))).includes(name));
    await listOrphans(blobs, Date.now() + hour);
    bytes.end('second half');
    assert.equal(await stored, 23);
    const read = await blobs.open(name, undefined);
    assert.equal(Buffer.concat((await read?.toArray()) ?? []).toString(), 'first half, second half');
  });

  it('[LIFE-5] lists only old files as orphans', async (t) => {
    const folder = await temporaryFolder(t);
    const blobs = openDiskBlobs({ folder, minFree: 0 });
    const [old, young] = [newName(), newName()];
    await put(blobs, old, Buffer.from('old'));
    await put(blobs, young, Buffer.from('young'));
    await age(join(folder, old.slice(0, 2), old), 2 * hour);
    assert.deepEqual(await listOrphans(blobs, Date.now() - hour), [old]);
  });

  const notNames = ['', '../outside', '/etc/passwd', 'A'.repeat(64), `${'a'.repeat(63)}/`, `${'a'.repeat(64)}\n`];
  for (const name of notNames) {
    it(`[UP-5] cannot be escaped with the name ${JSON.stringify(name)}`, async (t) => {
      const folder = await temporaryFolder(t);
      const blobs = openDiskBlobs({ folder, minFree: 0 });
      await assert.rejects(put(blobs, name, Buffer.from('x')), { code: 'INTERNAL' });
      await assert.rejects(blobs.open(name, undefined), { code: 'INTERNAL' });
      await assert.rejects(blobs.remove(name), { code: 'INTERNAL' });
      assert.deepEqual(await filesIn(folder), []);
    });
  }

  it('[RUN-2] does not respond when it is missing', async (t) => {
    const folder = await temporaryFolder(t);
    const blobs = openDiskBlobs({ folder: join(folder, 'files'), minFree: 0 });
    await blobs.ping();
    await rm(join(folder, 'files'), { recursive: true });
    await assert.rejects(blobs.ping());
  });
});

const hour = 3600_000;

/** A size for which there is space once, but not twice. */
async function mostOfDisk(): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  return Math.floor(bavail * bsize * 0.7);
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-disk-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** The remains of an upload in whose midst the server ended so long ago. */
async function leaveBehind(folder: string, agoMs: number): Promise<string> {
  const name = newName();
  const path = join(folder, 'unfinished', name);
  await writeFile(path, 'half of it');
  await age(path, agoMs);
  return name;
}

async function age(path: string, agoMs: number): Promise<void> {
  const moment = new Date(Date.now() - agoMs);
  await utimes(path, moment, moment);
}
