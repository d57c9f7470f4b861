/** Deleted data is erased from the database files, of this version and of earlier ones. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, copyFileSync, openSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { guardRules } from '../../src/core/limits.ts';

import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import { roomIdOf } from '../../src/store/sqlite/cache.ts';
import { connect } from '../../src/store/sqlite/database.ts';
import { createEraser } from '../../src/store/sqlite/erasure.ts';
import { openSqliteKeys, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { steps } from '../../src/store/sqlite/schema.ts';
import {
  countedFiles,
  createRoom,
  file,
  insertion,
  quota,
  type RoomStores,
  start,
  textAppend,
  textOf,
  unfinishedFile,
} from '../contract/store-under-test.ts';
import { assertErased, assertFound, tracesIn, uniqueText } from '../support/erasure.ts';
import { eventually } from '../support/eventually.ts';
import { type Random, randomFromSeed, seededRandom } from '../support/seeded-random.ts';
import { firstRelease, makeFirstRelease } from './first-release.ts';
import { openStore, temporaryFolder } from './open-sqlite.ts';

const execute = promisify(execFile);
const often = { eraseEveryMs: 20 };
const rules = guardRules(20);

describe('sqlite: deleted rows', () => {
  it('[slow] [LIFE-7] leave no copies in pages that SQLite has split', async (t) => {
    const path = join(await temporaryFolder(t), 'rows.db');
    const db = connect(path);
    const descriptor = openSync(path, 'r+');
    t.after(() => {
      db.close();
      closeSync(descriptor);
    });
    const { deleted, kept } = changeRows(db);
    const copy = join(await temporaryFolder(t), 'copy.db');
    copyAsSqliteLeavesIt(path, copy);
    assert.ok((await tracesIn(dirname(copy), deleted)).size > 0, 'if not, SQLite needs no help any more');

    createEraser(db, { path, descriptor }).erase();
    assert.equal((await tracesIn(dirname(path), deleted)).size, 0);
    assert.deepEqual(
      db
        .prepare('SELECT content FROM rows')
        .all()
        .map(({ content }) => content)
        .sort(),
      kept.sort(),
    );
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
  });

  it('[slow] [LIFE-7] are in no file after a stop', async (t) => {
    const folder = await temporaryFolder(t);
    const store = openSqliteStore({ folder, rules, now: start, eraseEveryMs: 3_600_000 });
    const { deleted } = await makeAndDelete(store, seededRandom(t));
    assert.ok((await tracesIn(folder, deleted)).size > 0, 'nothing is erased before its time');
    await store.close();
    assert.equal((await tracesIn(folder, deleted)).size, 0);
  });

  it('[LIFE-7] [UNDO-2] [TUS-6] of files that were erased, and of uploads, are in no file', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, often);
    const { rooms } = store;
    const code = await createRoom(rooms);
    const names = Array.from({ length: 60 }, (_, n) => uniqueText(1 + n));
    const states = names.map((_, n) => uniqueText(n % 3 ? 50 : 5000));
    const uploads = names.map((name) => unfinishedFile({ name, folder: name, size: 10, expiresAt: start + 1 }));
    for (const upload of uploads) await store.uploads.startUpload(code, upload, quota);
    for (const [n, { id }] of uploads.entries()) {
      await store.uploads.advanceUpload(code, id, 0, { received: 10, state: states[n] ?? '' }, start);
    }
    await assertFound(folder, [...names.slice(0, 3), ...states.slice(0, 3)]);
    for (const [n, { id }] of uploads.entries()) await dropUpload(store, code, id, n % 3);
    await store.files.eraseRemoved(start + 1, 100);
    await store.uploads.expireUploads(start + 1, 100);
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
    await assertErased(folder, [...names, ...states]);
  });

  it('[LIFE-7] stay while another process reads, which delays no write, and are erased when it has finished', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, often);
    const { rooms } = store;
    const [deleted, kept] = [await roomWith(store, uniqueText(50_000)), await roomWith(store, '')];
    const reader = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
    t.after(() => reader.close());
    reader.exec('BEGIN; SELECT count(*) FROM rooms');
    const text = (await textOf(rooms, deleted))?.content ?? '';
    await rooms.deleteRoom(deleted, start);
    const begun = performance.now();
    for (let version = 2; version < 40; version++) await append(store, kept, version, 'x');
    assert.ok(performance.now() - begun < 30_000, 'SQLite would wait 5 s for the reader, at each attempt');
    await assertFound(folder, [text]);
    reader.exec('COMMIT');
    await assertErased(folder, [text]);
  });

  it('[LIFE-7] that another process deleted while the server runs are erased from all files', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, often);
    const texts = Array.from({ length: 200 }, () => uniqueText(500));
    await Promise.all(texts.map((text) => roomWith(store, text)));
    const other = new DatabaseSync(join(folder, 'poproom.db'), { timeout: 5000 });
    t.after(() => other.close());
    other.exec('PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0; DELETE FROM rooms');
    await assertErased(folder, texts);
  });

  it('[KEY-4] and their erasure leave a valid database for the command line', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, { eraseEveryMs: 1 });
    const commandLine = openSqliteKeys(folder);
    const makeKey = (n: number) => commandLine.create({ id: `${n}`, hash: `${n}`, name: `${n}`, tier: 'pro' }, start);
    await Promise.all([makeAndDelete(store, seededRandom(t)), ...Array.from({ length: 50 }, (_, n) => makeKey(n))]);
    assert.equal((await commandLine.list()).length, 50);
    await commandLine.close();
    const db = new DatabaseSync(join(folder, 'poproom.db'));
    t.after(() => db.close());
    assert.deepEqual(
      db
        .prepare('PRAGMA integrity_check')
        .all()
        .map(({ integrity_check }) => integrity_check),
      ['ok'],
    );
  });

  it('[slow] [LIFE-7] leave an empty log when idle', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, often);
    const { rooms } = store;
    const text = uniqueText(1_000_000);
    await rooms.deleteRoom(await roomWith(store, text), start);
    await assertErased(folder, [text]);
    const sizeOfLog = async () => (await stat(join(folder, 'poproom.db-wal'))).size;
    await eventually('the log is empty', async () => (await sizeOfLog()) === 0);
  });
});

describe('sqlite: the log', () => {
  it('[LIFE-7] [TEXT-6] keeps its size after many commits, contains only zeros, and loses nothing after a crash', async (t) => {
    const { path, eraser, write, rowsOf } = await openLog(t);
    write(500);
    const used = await sizeOf(path);
    assert.equal(eraser.erase(), true);
    assert.equal(await sizeOf(path), 0);
    eraser.reserveLog();
    const reserved = await readFile(`${path}-wal`);
    assert.ok(reserved.length >= used && reserved.length < used + 128 * 1024, `${reserved.length} bytes of ${used}`);
    assert.ok(reserved.every((byte) => byte === 0));
    assert.equal((await rowsOf()).length, 500, 'if it crashes now');
    write(1);
    assert.equal((await rowsOf()).length, 501, 'if it crashes after the next commit');
    write(300);
    assert.equal(await sizeOf(path), reserved.length, 'the commits have not extended it');
    assert.equal((await rowsOf()).length, 801, 'if it crashes before the next erasure');
    assert.equal(eraser.erase(), true);
    assert.equal((await rowsOf()).length, 801);
  });

  it('[LIFE-7] is truncated if nothing was written since it was reserved', async (t) => {
    const { path, eraser, write } = await openLog(t);
    write(500);
    eraser.erase();
    eraser.reserveLog();
    assert.ok((await sizeOf(path)) > 0);
    eraser.requireWholeScan();
    eraser.erase();
    assert.equal(await sizeOf(path), 0);
    eraser.reserveLog();
    assert.ok((await sizeOf(path)) <= 4096, 'only commits count');
  });

  it('[LIFE-7] is reserved for 2,000 pages at most, however long it was', async (t) => {
    const { path, eraser, write } = await openLog(t);
    write(1500);
    const most = 2000 * 2072 + 4096;
    assert.ok((await sizeOf(path)) > 1.2 * most);
    eraser.erase();
    eraser.reserveLog();
    const size = await sizeOf(path);
    assert.ok(size > 0.9 * most && size <= most, `${size} bytes`);
  });

  it('[slow] [LIFE-7] is reserved on a server with many commits', { timeout: 60_000 }, async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder, { eraseEveryMs: 3000 });
    const code = await roomWith(store, 'x');
    const path = join(folder, 'poproom.db');
    const isReserved = async () => {
      const log = await readFile(`${path}-wal`);
      return log.length > 0 && log.every((byte) => byte === 0);
    };
    const isSeen = () => eventually('the log is reserved', isReserved, 5000).catch(() => false);
    let [version, isDone] = [1, false];
    // An erasure between them may divide the commits.
    for (let round = 0; round < 4 && !isDone; round++) {
      for (let n = 0; n < 300; n++) await append(store, code, ++version, 'x');
      isDone = await isSeen();
    }
    assert.ok(isDone);
  });

  it('[KEY-4] is not overwritten if another process has written in the meantime', async (t) => {
    const { path, eraser, write, rowsOf } = await openLog(t);
    write(500);
    eraser.erase();
    const other = connect(path);
    t.after(() => other.close());
    other.exec("INSERT INTO rows VALUES (1000000, 'of the other')");
    eraser.reserveLog();
    assert.equal((await rowsOf()).at(-1), 'of the other');
    other.exec("INSERT INTO rows VALUES (1000001, 'later')");
    assert.equal((await rowsOf()).length, 502);
  });
});

/** A database with its eraser. `rowsOf` reads a copy of its files, as a crash would leave them. */
async function openLog(t: TestContext) {
  const path = join(await temporaryFolder(t), 'rows.db');
  const db = connect(path);
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT');
  const descriptor = openSync(path, 'r+');
  t.after(() => {
    db.close();
    closeSync(descriptor);
  });
  const insert = db.prepare('INSERT INTO rows (content) VALUES (?)');
  const write = (commits: number) => {
    for (let n = 0; n < commits; n++) insert.run(uniqueText(500));
  };
  async function rowsOf(): Promise<string[]> {
    const copy = join(await temporaryFolder(t), 'copy.db');
    await execute('cp', [path, copy]);
    await execute('cp', [`${path}-wal`, `${copy}-wal`]);
    const copied = connect(copy);
    const rows = copied.prepare('SELECT content FROM rows ORDER BY id').all();
    assert.equal(copied.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    copied.close();
    return rows.map(({ content }) => String(content));
  }
  return { path, eraser: createEraser(db, { path, descriptor }), write, rowsOf };
}

const sizeOf = async (path: string) => (await stat(`${path}-wal`)).size;

describe('sqlite: a database of an earlier version', () => {
  const [kept, overwritten] = ['KEPT00', '0VERWR1TE'] as [RoomCode, RoomCode];

  for (const version of steps.map((_, n) => firstRelease + n)) {
    it(`[slow] [LIFE-8] contains nothing that was deleted in it after the first start (schema ${version})`, async (t) => {
      const folder = await temporaryFolder(t);
      const [text, newer, ...deleted] = Array.from({ length: 60 }, () => uniqueText(3000)) as [
        string,
        string,
        ...string[],
      ];
      makeOld(folder, version, { kept: [kept, text], overwritten: [overwritten, newer], deleted });
      assert.ok((await tracesIn(folder, deleted)).size > 20);
      const { rooms } = await openStore(t, folder);
      assert.equal((await tracesIn(folder, deleted)).size, 0);
      assert.equal((await textOf(rooms, kept))?.content, text);
      assert.equal((await textOf(rooms, overwritten))?.content, newer);
    });
  }

  it('[LIFE-8] contains nothing in the log that a crash left, either', async (t) => {
    const [folder, copy] = [await temporaryFolder(t), join(await temporaryFolder(t), 'copy')];
    await mkdir(copy);
    const deleted = [uniqueText(30_000), uniqueText(300)];
    makeFirstRelease(folder, (insert, db) => {
      insert(kept, 1, 'kept');
      for (const text of deleted) insert(drawSymbols() as RoomCode, 1, text);
      db.prepare('DELETE FROM rooms WHERE id <> ?').get(roomIdOf(kept));
      for (const name of ['poproom.db', 'poproom.db-wal']) copyFileSync(join(folder, name), join(copy, name));
    });
    await assertFound(copy, deleted);
    const { rooms } = await openStore(t, copy);
    assert.equal((await tracesIn(copy, deleted)).size, 0);
    assert.equal((await textOf(rooms, kept))?.content, 'kept');
  });

  it('[LIFE-8] is rewritten once, and not at later starts', async (t) => {
    const folder = await temporaryFolder(t);
    makeFirstRelease(folder, (insert) => insert(kept, 1, 'kept'));
    const writtenAt = async () => (await stat(join(folder, 'poproom.db'))).mtimeMs;
    await openSqliteStore({ folder, rules, now: start }).close();
    const before = await writtenAt();
    await openSqliteStore({ folder, rules, now: start }).close();
    assert.equal(await writtenAt(), before);
  });
});

/** Rows of all sizes that are inserted, replaced and deleted in no particular order: always the same one. */
function changeRows(db: DatabaseSync): { deleted: string[]; kept: string[] } {
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT; BEGIN');
  const put = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?)');
  const remove = db.prepare('DELETE FROM rows WHERE id = ?');
  const random = randomFromSeed(1);
  const [rows, deleted] = [new Map<number, string>(), [] as string[]];
  for (let n = 0; n < 2500; n++) {
    const id = random.number(2) > 0 || rows.size === 0 ? random.number(2 ** 30) : random.pick([...rows.keys()]);
    deleted.push(...(rows.has(id) ? [rows.get(id) as string] : []));
    if (rows.delete(id) && random.number(2) > 0) remove.run(id);
    else {
      rows.set(id, uniqueText(20 + random.number(700)));
      put.run(id, rows.get(id) as string);
    }
  }
  db.exec('COMMIT');
  return { deleted, kept: [...rows.values()] };
}

/** Its log is carried over by SQLite alone. */
function copyAsSqliteLeavesIt(path: string, copy: string): void {
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix);
  const db = new DatabaseSync(copy);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

async function roomWith(store: RoomStores, text: string): Promise<RoomCode> {
  const code = await createRoom(store.rooms);
  const compaction = { content: text, dropThrough: 1 };
  const { outcome } = await store.texts.appendText(code, textAppend(insertion(1, text), { compaction }));
  assert.equal(outcome, 'appended');
  return code;
}

async function append(store: RoomStores, code: RoomCode, version: number, insert: string): Promise<void> {
  assert.equal((await store.texts.appendText(code, textAppend(insertion(version, insert)))).outcome, 'appended');
}

/** Rooms with texts, logs and files of all sizes, of which most are deleted, in no particular order. */
async function makeAndDelete(store: RoomStores, random: Random): Promise<{ deleted: string[]; kept: string[] }> {
  const made = await Promise.all(Array.from({ length: 100 }, () => furnishedRoom(store, random)));
  const [toDelete, toKeep] = [made.filter((_, n) => n % 10 > 0), made.filter((_, n) => n % 10 === 0)];
  await Promise.all(toDelete.map(({ code }) => store.rooms.deleteRoom(code, start)));
  const textsOf = (chosen: typeof made) => chosen.flatMap(({ texts }) => texts);
  return { deleted: textsOf(toDelete), kept: textsOf(toKeep) };
}

async function furnishedRoom(store: RoomStores, random: Random): Promise<{ code: RoomCode; texts: string[] }> {
  const texts = [uniqueText(1 + random.number(3000))];
  const code = await roomWith(store, texts[0] as string);
  for (let version = 2; version < 8; version++) {
    const [insert, name] = [uniqueText(1 + random.number(500)), uniqueText(1)];
    texts.push(insert, name);
    await append(store, code, version, insert);
    await store.files.addFile(code, file({ name }), quota);
  }
  return { code, texts };
}

/** Cancels an upload, or finishes it and removes the file, or leaves it to expire. */
async function dropUpload(store: RoomStores, code: RoomCode, fileId: string, how: number): Promise<void> {
  if (how === 0) await store.uploads.cancelUpload(code, fileId, start);
  if (how !== 1) return;
  await store.uploads.finishUpload(code, fileId, start);
  await store.files.removeFile(code, fileId, start);
}

interface OldTexts {
  kept: [RoomCode, string];
  overwritten: [RoomCode, string];
  deleted: readonly string[];
}

/** As versions without `secure_delete` have left it. */
function makeOld(folder: string, version: number, { kept, overwritten, deleted }: OldTexts): void {
  makeFirstRelease(folder, (insert, db) => {
    db.exec('PRAGMA secure_delete = OFF');
    insert(kept[0], 1, kept[1]);
    insert(overwritten[0], 1, deleted[0] ?? '');
    for (const text of deleted.slice(1)) insert(drawSymbols() as RoomCode, 1, text);
    db.prepare('UPDATE rooms SET content = ? WHERE id = ?').get(overwritten[1], roomIdOf(overwritten[0]));
    db.prepare('DELETE FROM rooms WHERE id NOT IN (?, ?)').get(roomIdOf(kept[0]), roomIdOf(overwritten[0]));
    for (const step of steps.slice(1, version - firstRelease + 1)) db.exec(step);
    db.exec(`PRAGMA user_version = ${version}`);
  });
}
