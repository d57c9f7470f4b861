/** Writes of the embedded engine: in batches, synced before they are acknowledged, with a bounded queue. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { drawApiKey } from '../../src/core/clients.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { TextAppend } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { connect } from '../../src/store/sqlite/database.ts';
import { clearTrash } from '../../src/store/sqlite/files.ts';
import { openSqliteKeys } from '../../src/store/sqlite/open.ts';
import { createWriter } from '../../src/store/sqlite/writer.ts';
import {
  accessAttempt,
  appendInsertion,
  checkpoint,
  createRoom,
  file,
  hour,
  insertion,
  newClient,
  quota,
  start,
  textAppend,
  textOf,
} from '../contract/store-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { openStore, temporaryFolder, writerOptions } from './open-sqlite.ts';

const mebibyte = 'x'.repeat(1024 * 1024);

/** An edit, a full text and a checkpoint. */
const threeMebibytes = (version: number): TextAppend =>
  textAppend(insertion(version, mebibyte), {
    compaction: { content: mebibyte, dropThrough: version - 1 },
    checkpoint: { checkpoint: checkpoint(version - 1, mebibyte), limits: { checkpoints: 1, bytes: 0 } },
  });

describe('sqlite: writing', () => {
  it('commits writes that arrive during a commit together in the next one', async (t) => {
    const { store, folder, code } = await storeWithRoom(t);
    const before = await commitsIn(folder);
    const release = holdWriteLock(t, folder);
    const writes = [appendInsertion(store.texts, code, 1, 'in progress')];
    for (let n = 0; n < 200; n++) {
      await setImmediate();
      writes.push(appendInsertion(store.texts, code, n + 2, `waits ${n}`));
    }
    release();
    await Promise.all(writes);
    assert.equal((await commitsIn(folder)) - before, 2);
  });

  it('answers reads while another process holds the write lock, and writes when it is released', async (t) => {
    const { store, folder, code } = await storeWithRoom(t);
    const release = holdWriteLock(t, folder);
    let isWritten = false;
    const writing = appendInsertion(store.texts, code, 1, 'waits').then(() => {
      isWritten = true;
    });
    await readEverything(store, code);
    assert.equal(isWritten, false, 'the write should still wait');
    release();
    await writing;
    assert.equal((await textOf(store.rooms, code, start))?.content, 'waits');
  });

  it('rejects the one write of a batch that fails, and accepts the others', async (t) => {
    const { store, code } = await storeWithRoom(t);
    const taken = file();
    const [first, again, text] = await Promise.allSettled([
      store.files.addFile(code, taken, quota),
      store.files.addFile(code, { ...taken, size: 7 }, quota),
      appendInsertion(store.texts, code, 1, 'unaffected'),
    ]);
    assert.deepEqual(first, { status: 'fulfilled', value: { seq: 1 } });
    assert.ok(again.status === 'rejected' && again.reason.code === 'UNAVAILABLE');
    assert.deepEqual(text, { status: 'fulfilled', value: { outcome: 'appended', seq: 2 } });
    const admission = await store.rooms.admit(accessAttempt(code));
    assert.ok(admission.outcome === 'admitted');
    assert.deepEqual([admission.room.fileCount, admission.room.fileBytes], [1, taken.size]);
  });

  it('rejects writes while its thread cannot open the database, and accepts them when it can', async (t) => {
    const folder = join(await temporaryFolder(t), 'data');
    const writer = createWriter(writerOptions(folder));
    t.after(() => writer.close());
    await assert.rejects(writer.run(clearTrash, []), { code: 'UNAVAILABLE' });
    await openSqliteKeys(folder).close();
    await eventually('the writer accepts writes again', () =>
      writer.run(clearTrash, []).then(
        () => true,
        () => false,
      ),
    );
  });

  it('[slow] [RUN-7] rejects a write instead of queueing more than 10,000', async (t) => {
    const { store, folder, code } = await storeWithRoom(t);
    const release = holdWriteLock(t, folder);
    const inProgress = appendInsertion(store.texts, code, 1, 'in progress');
    await setImmediate();
    const waiting = Array.from({ length: 10_000 }, (_, n) => appendInsertion(store.texts, code, n + 2, 'w'));
    await assert.rejects(appendInsertion(store.texts, code, 10_002, 'late'), { code: 'UNAVAILABLE', retryAfter: 1 });
    release();
    await Promise.all([inProgress, ...waiting]);
    assert.equal((await textOf(store.rooms, code, start))?.version, 10_001);
  });

  it('[slow] [RUN-7] rejects a text instead of queueing more than 64 MiB of them, and accepts small ones', async (t) => {
    const { store, folder, code } = await storeWithRoom(t);
    const release = holdWriteLock(t, folder);
    const inProgress = appendInsertion(store.texts, code, 1, 'in progress');
    await setImmediate();
    const waiting = Array.from({ length: 21 }, (_, n) => store.texts.appendText(code, threeMebibytes(n + 2)));
    const tooMuch = store.texts.appendText(code, textAppend(insertion(23, mebibyte)));
    await assert.rejects(tooMuch, { code: 'UNAVAILABLE', retryAfter: 1 });
    const small = [createRoom(store.rooms), appendInsertion(store.texts, code, 23, 'small')];
    release();
    await Promise.all([inProgress, ...waiting, ...small]);
    await appendInsertion(store.texts, code, 24, mebibyte);
    assert.equal((await textOf(store.rooms, code, start))?.version, 24);
  });

  it('[TEXT-8] writes a few pages for an edit, however long the text is', async (t) => {
    const { store, folder, code } = await storeWithRoom(t);
    const compaction = { content: mebibyte, dropThrough: 1 };
    await store.texts.appendText(code, textAppend(insertion(1, mebibyte), { compaction }));
    const before = (await framesIn(folder)).length;
    for (let version = 2; version <= 101; version++) await appendInsertion(store.texts, code, version, 'x');
    const written = (await framesIn(folder)).length - before;
    assert.ok(written < 300, `${written} pages for 100 edits`);
    assert.ok((await textOf(store.rooms, code))?.content === 'x'.repeat(100) + mebibyte);
  });

  it('[TEXT-6] waits for the disk at each commit', async (t) => {
    const db = connect(join(await temporaryFolder(t), 'poproom.db'));
    t.after(() => db.close());
    const full = 2;
    assert.equal(db.prepare('PRAGMA synchronous').get()?.synchronous, full);
  });
});

async function storeWithRoom(t: TestContext): Promise<{ store: Store; folder: string; code: RoomCode }> {
  const folder = await temporaryFolder(t);
  const store = await openStore(t, folder);
  return { store, folder, code: await createRoom(store.rooms) };
}

/** Like another process in the middle of a write. */
function holdWriteLock(t: TestContext, folder: string): () => void {
  const db = new DatabaseSync(join(folder, 'poproom.db'));
  t.after(() => db.close());
  db.exec('BEGIN IMMEDIATE');
  return () => db.exec('ROLLBACK');
}

async function readEverything({ rooms, files, keys, rates, ping }: Store, code: RoomCode): Promise<void> {
  assert.equal((await rooms.admit(accessAttempt(code))).outcome, 'admitted');
  assert.equal((await textOf(rooms, code, start))?.content, '');
  assert.deepEqual(await files.listFiles(code, start), []);
  assert.equal(await files.findFile(file().id, start), undefined);
  assert.equal(await rooms.countRooms(start), 1);
  assert.equal(await keys.find(drawApiKey().hash), undefined);
  assert.ok((await rates.take(newClient(), { tier: 'free', limit: 100, windowMs: hour }, start)).granted);
  await ping();
}

/** Commits in the write-ahead log: the last frame of each has the size of the database, the others have 0. */
async function commitsIn(folder: string): Promise<number> {
  return (await framesIn(folder)).filter((frame) => frame.readUInt32BE(4) > 0).length;
}

/** Frames in the write-ahead log since its last reset. */
async function framesIn(folder: string): Promise<Buffer[]> {
  const log = await readFile(join(folder, 'poproom.db-wal'));
  const size = 24 + log.readUInt32BE(8);
  const frames: Buffer[] = [];
  for (let at = 32; at + size <= log.length; at += size) frames.push(log.subarray(at, at + size));
  const salt = log.subarray(16, 24);
  return frames.filter((frame) => frame.subarray(8, 16).equals(salt));
}
