/** Databases of earlier versions are updated when they are opened. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { unfinishedName } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { roomIdOf } from '../../src/store/sqlite/cache.ts';
import { steps } from '../../src/store/sqlite/schema.ts';
import {
  accessAttempt,
  appendInsertion,
  file,
  mac,
  quota,
  start,
  storedText,
  textOf,
  unfinishedFile,
} from '../contract/store-under-test.ts';
import { firstRelease, makeFirstRelease } from './first-release.ts';
import { openStore, temporaryFolder } from './open-sqlite.ts';

const oddText = 'before\u0000after \u{1f44d} "\\\r\n\u2028';
const [fresh, written, cleared] = ['FRESH0', 'WR0TE0', 'C0EARED'] as [RoomCode, RoomCode, RoomCode];
/** Its number does not fit into a JavaScript number. */
const longCode = 'A0000000000' as RoomCode;

describe('sqlite: a database of the first release', () => {
  it('[TEXT-1] [LIFE-6] keeps all texts, versions, PINs and files', async (t) => {
    const folder = await temporaryFolder(t);
    const kept = file();
    makeFirstRelease(folder, (insert, db) => {
      insert(fresh, 0, '');
      insert(written, 7, oddText);
      insert(cleared, 5, '');
      insert(longCode, 1, 'x'.repeat(1024 * 1024), mac('0427'));
      const columns = 'id, room, blob, name, type, size, uploaded_at';
      const { id, blob, name, type, size, uploadedAt } = kept;
      db.prepare(`INSERT INTO files (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
        id,
        roomIdOf(written),
        blob,
        name,
        type,
        size,
        uploadedAt,
      );
    });
    const store = await openStore(t, folder);
    const { rooms } = store;

    assert.deepEqual({ ...(await textOf(rooms, fresh)) }, { content: '', version: 0, writtenAt: start });
    assert.deepEqual({ ...(await textOf(rooms, written)) }, { content: oddText, version: 7, writtenAt: start });
    assert.deepEqual({ ...(await textOf(rooms, cleared)) }, { content: '', version: 5, writtenAt: start });
    assert.equal((await rooms.admit(accessAttempt(longCode))).outcome, 'pin-required');
    assert.equal((await textOf(rooms, longCode, start, mac('0427')))?.content.length, 1024 * 1024);
    assert.deepEqual(await appendInsertion(store.texts, longCode, 2, 'a'), { outcome: 'appended', seq: 2 });
    assert.equal(await rooms.countRooms(start), 4);
    assert.deepEqual(await store.files.findFile(kept.id, start), kept);
  });

  it('[UP-10] counts its files for all clients together, and for no single client', async (t) => {
    const folder = await temporaryFolder(t);
    const { id, blob, name, type, size, uploadedAt } = file({ size: 700 });
    makeFirstRelease(folder, (insert, db) => {
      insert(written, 7, 'text');
      const columns = 'id, room, blob, name, type, size, uploaded_at';
      const values = [id, roomIdOf(written), blob, name, type, size, uploadedAt];
      db.prepare(`INSERT INTO files (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`).get(...values);
    });
    const store = await openStore(t, folder);
    const { storage } = store;
    assert.deepEqual(await storage.usage(), { stored: 700, reserved: 0 });
    await store.files.removeFile(written, id, start);
    assert.equal(await store.files.eraseRemovedIn(written), 1);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
  });

  it('[UNDO-1] [TUS-8] removes and restores its files, and takes uploads beside them', async (t) => {
    const folder = await temporaryFolder(t);
    const { id, blob, name, type, size, uploadedAt } = file({ size: 700 });
    makeFirstRelease(folder, (insert, db) => {
      insert(written, 7, 'text');
      const columns = 'id, room, blob, name, type, size, uploaded_at';
      const values = [id, roomIdOf(written), blob, name, type, size, uploadedAt];
      db.prepare(`INSERT INTO files (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`).get(...values);
    });
    const store = await openStore(t, folder);
    const { rooms } = store;
    const upload = unfinishedFile({ received: 1000 });
    const cancelled = unfinishedFile();
    for (const one of [upload, cancelled])
      assert.equal(await store.uploads.startUpload(written, one, quota), 'started');
    assert.deepEqual(await store.files.removeFile(written, id, start), { seq: 8 });
    assert.deepEqual(await store.uploads.finishUpload(written, upload.id, start), { seq: 9 });
    assert.deepEqual(await store.files.restoreFile(written, id, start), { seq: 10 });
    assert.equal(await store.uploads.cancelUpload(written, cancelled.id, start), 'cancelled');
    const listed = await store.files.listFiles(written, start);
    assert.deepEqual(Array.isArray(listed) && listed.map((one) => one.id), [id, upload.id]);
    await rooms.deleteRoom(written, start);
    assert.deepEqual(
      new Set(await store.trash.listTrash(10)),
      new Set([blob, upload.blob, unfinishedName(cancelled.blob)]),
    );
  });

  it('[TEXT-7] [HIST-1] starts logs at the current versions of texts, and keeps histories from then on', async (t) => {
    const folder = await temporaryFolder(t);
    makeFirstRelease(folder, (insert) => {
      insert(fresh, 0, '');
      insert(written, 7, 'text');
      insert(cleared, 5, '');
    });
    const store = await openStore(t, folder);
    const { rooms } = store;

    const migrated = { entries: [], logBytes: 0, lastRefs: [], checkpointVersion: 0, keepsHistory: true };
    const content = { content: 'text', version: 7, writtenAt: start };
    assert.deepEqual(await storedText(store.texts, written), { ...migrated, content, revision: 7, fullTextVersion: 7 });
    for (const [code, version, text] of [
      [fresh, 1, 'a'],
      [written, 8, 'atext'],
      [cleared, 6, 'a'],
    ] as const) {
      assert.deepEqual(await appendInsertion(store.texts, code, version, 'a'), { outcome: 'appended', seq: version });
      assert.equal((await textOf(rooms, code))?.content, text);
      const { fullTextVersion, entries } = await storedText(store.texts, code);
      assert.deepEqual([fullTextVersion, entries.length], [version - 1, 1]);
    }
  });

  it('[IDEM-4] counts the results of requests with idempotency keys that it has', async (t) => {
    const folder = await temporaryFolder(t);
    const counting = steps.findIndex((step) => step.includes('idempotent_count'));
    makeFirstRelease(folder, (_insert, db) => {
      for (const step of steps.slice(1, counting)) db.exec(step);
      db.exec(`PRAGMA user_version = ${firstRelease + counting - 1}`);
      const insert = db.prepare('INSERT INTO idempotent_requests VALUES (?, ?, ?, ?, ?)');
      for (const [key, client] of ['a1', 'a2', 'b1'].entries()) insert.run(`${key}`, client[0] ?? '', '', '', start);
    });
    const { rooms } = await openStore(t, folder);
    const count = (query: string) => {
      const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
      const rows = db
        .prepare(query)
        .all()
        .map((row) => Object.values(row));
      db.close();
      return rows;
    };
    assert.deepEqual(count('SELECT total FROM idempotent_count'), [[3]]);
    assert.deepEqual(count('SELECT client, results FROM idempotent_clients ORDER BY client'), [
      ['a', 2],
      ['b', 1],
    ]);
    await rooms.expireRooms(start, 1);
    assert.deepEqual(count('SELECT total FROM idempotent_count'), [[0]]);
    assert.deepEqual(count('SELECT * FROM idempotent_clients'), []);
  });

  it('[HIST-1] reads checkpoints that were stored before they were compressed', async (t) => {
    const folder = await temporaryFolder(t);
    makeFirstRelease(folder, (insert, db) => {
      insert(written, 7, 'text');
      db.exec(`${steps[1]}; PRAGMA user_version = ${firstRelease + 1}`);
      const columns = 'room, version, written_at, device, size, content';
      db.prepare(`INSERT INTO history (${columns}) VALUES (?, 3, ?, NULL, 5, ?)`).run(
        roomIdOf(written),
        start,
        oddText,
      );
    });
    const store = await openStore(t, folder);

    const checkpoint = { version: 3, writtenAt: start, deviceId: undefined, size: 5, content: oddText };
    assert.deepEqual(await store.texts.readCheckpoint(written, 3, start), checkpoint);
  });
});
