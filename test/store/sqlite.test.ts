/** The embedded engine: the contract of stores, and tests that only concern SQLite. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { wholeSchema } from '../../scripts/build-server.ts';
import { drawApiKey } from '../../src/core/clients.ts';
import { guardRules } from '../../src/core/limits.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { clearTrash } from '../../src/store/sqlite/files.ts';
import { openSqliteKeys, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { migrate, steps } from '../../src/store/sqlite/schema.ts';
import { createWriter } from '../../src/store/sqlite/writer.ts';
import { type OpenStore, storeContract } from '../contract/store.ts';
import {
  accessAttempt,
  createRoom,
  currentText,
  day,
  file,
  hour,
  insertion,
  mac,
  newClient,
  quota,
  start,
  textAppend,
  textOf,
  unfinishedFile,
  writeText,
} from '../contract/store-under-test.ts';
import { createDatabase } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { openStore, temporaryFolder, writerOptions } from './open-sqlite.ts';

const engine = fileURLToPath(new URL('../../src/store/sqlite/open.ts', import.meta.url));

const inAFolder: OpenStore = async ({ rules, now }) => {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-sqlite-'));
  await createDatabase(folder);
  let store = openSqliteStore({ folder, rules, now });
  return {
    store,
    async reopen(later) {
      await store.close();
      store = openSqliteStore({ folder, rules, now: later });
      return store;
    },
    async dispose() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
};

storeContract('sqlite', inAFolder);

describe('sqlite: one server per folder', () => {
  it('[RUN-6] rejects a second server on the folder, with the reason', async (t) => {
    const folder = await temporaryFolder(t);
    await openStore(t, folder);
    assert.throws(() => openSqliteStore({ folder, rules: guardRules(20), now: start }), {
      code: 'UNAVAILABLE',
      message: `Another Poproom server is using the folder ${folder}.`,
    });
  });

  it('[RUN-6] rejects one of another process, even after one of its own was rejected', async (t) => {
    const folder = await temporaryFolder(t);
    await openStore(t, folder);
    assert.throws(() => openSqliteStore({ folder, rules: guardRules(20), now: start }));
    await assert.rejects(openInAnotherProcess(folder), /Another Poproom server is using/);
  });

  const broken: [what: string, make: (path: string) => Promise<unknown>, why: RegExp][] = [
    ['not a database', (path) => writeFile(path, 'x'.repeat(1000)), /server\.lock.*: file is not a database\.$/],
    ['a folder', mkdir, /server\.lock.*: unable to open database file\.$/],
  ];
  for (const [what, make, message] of broken) {
    it(`[RUN-1] reports the problem, and does not blame another server, when the lock is ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      await make(join(folder, 'server.lock'));
      const open = () => openSqliteStore({ folder, rules: guardRules(20), now: start });
      assert.throws(open, { code: 'UNAVAILABLE', message });
    });
  }

  it('[RUN-6] releases the folder when it is closed', async (t) => {
    const folder = await temporaryFolder(t);
    await openSqliteStore({ folder, rules: guardRules(20), now: start }).close();
    await openInAnotherProcess(folder);
    await openStore(t, folder);
  });

  it('[KEY-4] allows the command line to create and revoke keys while it runs, which takes effect within a second', async (t) => {
    const folder = await temporaryFolder(t);
    const server = await openStore(t, folder);
    const commandLine = openSqliteKeys(folder);
    t.after(() => commandLine.close());
    const key = drawApiKey();
    const made = await commandLine.create({ ...key, name: 'laptop', tier: 'pro' }, start);
    assert.deepEqual(await server.keys.find(key.hash), made);
    await commandLine.revoke('laptop', start);
    await eventually('the key holds no more', async () => (await server.keys.find(key.hash)) === undefined, 1000);
  });

  it('[KEY-4] allows both to write concurrently', async (t) => {
    const folder = await temporaryFolder(t);
    const server = await openStore(t, folder);
    const commandLine = openSqliteKeys(folder);
    t.after(() => commandLine.close());
    const code = await createRoom(server.rooms);
    const makeKey = (n: number) => commandLine.create({ ...drawApiKey(), name: `key ${n}`, tier: 'free' }, start);
    for (let n = 0; n < 20; n++) await Promise.all([makeKey(n), writeText(server.texts, code, `text ${n}`)]);
    assert.equal((await server.keys.list()).length, 20);
    assert.equal((await textOf(server.rooms, code, start))?.version, 20);
  });

  it('makes its files inaccessible to other users of the machine', async (t) => {
    const folder = join(await temporaryFolder(t), 'data');
    await openStore(t, folder);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });
});

describe('sqlite: a clock that is set back', () => {
  const late = start + 2 * hour;
  const operations: Record<string, (store: Store, code: RoomCode) => Promise<unknown>> = {
    'read the text': (store, code) => store.texts.readText(code, late),
    'edit the text': async (store, code) =>
      (await store.texts.appendText(code, textAppend(insertion(1, 'late', { writtenAt: late })))).outcome,
    'read the state': (store, code) => store.rooms.readState(code, late),
    'list the history': (store, code) => store.texts.listHistory(code, late),
    'read a checkpoint': (store, code) => store.texts.readCheckpoint(code, 1, late),
    'clear the history': (store, code) => store.texts.clearHistory(code, currentText('', 0), late),
    'add a file': (store, code) => store.files.addFile(code, file({ uploadedAt: late }), quota),
    'list the files': (store, code) => store.files.listFiles(code, late),
    'remove a file': (store, code) => store.files.removeFile(code, file().id, late),
    'restore a file': (store, code) => store.files.restoreFile(code, file().id, late),
    'start an upload': (store, code) => store.uploads.startUpload(code, unfinishedFile({ uploadedAt: late }), quota),
    'find an upload': (store, code) => store.uploads.findUpload(code, file().id, late),
    'advance an upload': (store, code) =>
      store.uploads.advanceUpload(code, file().id, 0, { received: 1, state: '' }, late),
    'finish an upload': (store, code) => store.uploads.finishUpload(code, file().id, late),
    'cancel an upload': (store, code) => store.uploads.cancelUpload(code, file().id, late),
    delete: (store, code) => store.rooms.deleteRoom(code, late),
  };
  it('[FAULT-5] does not revive a room that had expired before an operation', async (t) => {
    const store = await openStore(t, await temporaryFolder(t));
    for (const [name, run] of Object.entries(operations)) {
      const code = await createRoom(store.rooms, { expiresAt: start + hour });
      assert.equal(await run(store, code), 'expired', name);
      assert.equal((await store.rooms.admit(accessAttempt(code))).outcome, 'expired', name);
    }
  });
});

describe('sqlite: crashes and stops', { concurrency: true }, () => {
  it('[LIFE-6] keeps every write that was acknowledged before the process was killed', async (t) => {
    const folder = await temporaryFolder(t);
    const { code, answered } = await killWhileWriting(folder);
    const store = await openStore(t, folder);
    const read = await textOf(store.rooms, code, start);
    assert.ok(read && read.version >= answered, `version ${read?.version} of ${answered} answered writes`);
    assert.equal(read.content, 'x'.repeat(read.version));
  });

  it('[RATE-6] [GUESS-5] writes its counters within about a second, so that a crash loses no more', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openStore(t, folder);
    // It starts the thread that writes.
    await createRoom(store.rooms);
    const kinds = reader(t, folder).prepare('SELECT kind FROM counters ORDER BY kind');
    await store.rates.take(newClient(), { tier: 'free', limit: 100, windowMs: hour }, start);
    await store.rooms.admit(accessAttempt(undefined));
    await eventually('the counters are written', () => kinds.all().length >= 2, 5000);
    assert.deepEqual(
      kinds.all().map(({ kind }) => kind),
      ['miss', 'rate'],
    );
  });

  it('[RUN-4] leaves one file with everything in it when it is closed', async (t) => {
    const folder = await temporaryFolder(t);
    const store = openSqliteStore({ folder, rules: guardRules(20), now: start });
    await createRoom(store.rooms);
    await store.close();
    assert.equal(existsSync(join(folder, 'poproom.db-wal')), false);
    const rooms = reader(t, folder).prepare('SELECT count(*) AS rooms FROM rooms').get()?.rooms;
    assert.equal(rooms, 1);
  });
});

describe('sqlite: a stop that fails', () => {
  it('[RUN-4] to write the counters still ends everything else, and leaves one file', async (t) => {
    const folder = await temporaryFolder(t);
    const store = openSqliteStore({ folder, rules: guardRules(20), now: start });
    await createRoom(store.rooms);
    await store.rates.take(newClient(), { tier: 'free', limit: 100, windowMs: hour }, start);
    change(folder, 'ALTER TABLE counters RENAME TO lost');
    await assert.rejects(store.close(), { code: 'UNAVAILABLE' });
    assert.equal(existsSync(join(folder, 'poproom.db-wal')), false);
    change(folder, 'ALTER TABLE lost RENAME TO counters');
    await openStore(t, folder);
  });

  it('[RUN-4] to accept the last writes waits for them and completes', async (t) => {
    const folder = join(await temporaryFolder(t), 'missing');
    const writer = createWriter(writerOptions(folder));
    const writing = assert.rejects(writer.run(clearTrash, []), { code: 'UNAVAILABLE' });
    await writer.close();
    await writing;
  });
});

describe('sqlite: the schema', () => {
  it('is created in an empty database, and left unchanged in one that is up to date', () => {
    const db = new DatabaseSync(':memory:');
    const schema = () => db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
    migrate(db);
    const made = schema();
    assert.ok(made.some(({ name }) => name === 'rooms'));
    db.exec("INSERT INTO trash VALUES ('kept')");
    migrate(db);
    assert.deepEqual(schema(), made);
    assert.equal(db.prepare('SELECT count(*) AS kept FROM trash').get()?.kept, 1);
    db.close();
  });

  it('is the same if one script creates it, as in the build', () => {
    const [bySteps, byScript] = [new DatabaseSync(':memory:'), new DatabaseSync(':memory:')];
    for (const step of steps) bySteps.exec(step);
    byScript.exec(wholeSchema());
    const schemaOf = (db: DatabaseSync) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
    assert.deepEqual(schemaOf(byScript), schemaOf(bySteps));
    for (const { name } of schemaOf(bySteps).filter(({ type }) => type === 'table')) {
      const rowsOf = (db: DatabaseSync) => db.prepare(`SELECT * FROM ${name}`).all();
      assert.deepEqual(rowsOf(byScript), rowsOf(bySteps), String(name));
    }
    bySteps.close();
    byScript.close();
  });

  it('[RUN-1] is rejected if a newer version created it, and is not changed', async (t) => {
    const folder = await temporaryFolder(t);
    setVersion(folder, 1000);
    const open = () => openSqliteStore({ folder, rules: guardRules(20), now: start });
    assert.throws(open, { code: 'UNAVAILABLE', message: /newer version of Poproom/ });
    assert.throws(() => openSqliteKeys(folder), { code: 'UNAVAILABLE', message: /newer version of Poproom/ });
    assert.equal(reader(t, folder).prepare('PRAGMA user_version').get()?.user_version, 1000);
  });

  it('[RUN-1] is rejected if it is from before the first release', async (t) => {
    const folder = await temporaryFolder(t);
    setVersion(folder, 1);
    const open = () => openSqliteStore({ folder, rules: guardRules(20), now: start });
    assert.throws(open, { code: 'UNAVAILABLE', message: /before its first release/ });
  });

  it('[GUESS-6] has the wrong PINs of a room after a crash that lost its counters', async (t) => {
    const folder = await temporaryFolder(t);
    const open = () => openSqliteStore({ folder, rules: guardRules(0), now: start });
    const store = open();
    const code = await createRoom(store.rooms, { pinMac: mac('0427') });
    await store.rooms.admit(accessAttempt(code, { pinMac: mac('9999') }));
    for (let n = 0; n < 100; n++) await store.rooms.notePinAttempt(code, start);
    await store.close();

    const reopened = open();
    t.after(() => reopened.close());
    const newcomer = await reopened.rooms.admit(accessAttempt(code, { client: '172.1.0.1', pinMac: mac('0427') }));
    assert.deepEqual(newcomer, { outcome: 'pin-locked', until: start + day, isForLife: true });
  });

  it('[RUN-6] releases the folder when it is rejected', async (t) => {
    const folder = await temporaryFolder(t);
    setVersion(folder, 1000);
    assert.throws(() => openSqliteStore({ folder, rules: guardRules(20), now: start }));
    setVersion(folder, 0);
    await openStore(t, folder);
  });
});

function reader(t: TestContext, folder: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true });
  t.after(() => db.close());
  return db;
}

const setVersion = (folder: string, version: number) => change(folder, `PRAGMA user_version = ${version}`);

function change(folder: string, statement: string): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'));
  db.exec(statement);
  db.close();
}

const anotherProcess = (script: string, folder: string) =>
  [process.execPath, ['--eval', script, engine, folder]] as const;

function openInAnotherProcess(folder: string) {
  const script = `
    const { openSqliteStore } = await import(process.argv[1]);
    await openSqliteStore({ folder: process.argv[2], rules: {}, now: 0 }).close();
  `;
  return promisify(execFile)(...anotherProcess(script, folder));
}

/** Another process writes as fast as it can and says what was answered, until it is killed in the middle. */
async function killWhileWriting(folder: string): Promise<{ code: RoomCode; answered: number }> {
  const script = `
    const { openSqliteStore } = await import(process.argv[1]);
    const store = openSqliteStore({ folder: process.argv[2], rules: {}, now: ${start} });
    const { rooms } = store;
    const draft = { draw: 'KEPT00', codeLengths: [{ length: 6, upTo: 9 }], creator: 'a' };
    const code = await rooms.createRoom({ ...draft, createdAt: ${start}, expiresAt: ${start + hour} });
    for (let version = 1; ; version++) {
      const entry = { version, edits: [{ from: 0, to: 0, insert: 'x' }], writtenAt: ${start} };
      await store.texts.appendText(code, { entry, revision: version, previousRevision: version - 1 });
      console.log(version);
    }
  `;
  const child = spawn(...anotherProcess(script, folder), { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let answered = 0;
  for await (const line of createInterface(child.stdout)) {
    answered = Number(line);
    if (answered === 100) child.kill('SIGKILL');
  }
  await exited;
  assert.ok(answered >= 100);
  return { code: 'KEPT00' as RoomCode, answered };
}
