/** Crashes in the middle of everything: whatever was answered is there afterwards, and nothing else is left. */
import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { createLocalBus } from '../../src/bus/local.ts';
import { guardRules } from '../../src/core/limits.ts';
import { removeStrays, sweepRooms } from '../../src/core/sweep.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { assertRemembered, hashOf, type RoomMemory, rememberRoom } from '../support/answered.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { filePart, form, formType } from '../support/form.ts';
import { dataFolder, run, type ServerProcess, startProcess } from '../support/process.ts';
import { type Chance, seededChance } from '../support/seeded-random.ts';

const rounds = 6;
const env = { POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('a crash', () => {
  it('[LIFE-6] [TEXT-6] [UP-7] takes nothing that was answered', { timeout: 180_000 }, async (t) => {
    const chance = seededChance(t);
    const folder = await dataFolder(t);
    const rooms: RoomMemory[] = [];
    const keys: string[] = [];
    let server = await startProcess(t, folder, env);
    for (let round = 0; round < rounds; round++) {
      const made = await crashUnderLoad({ server, folder, chance, name: `round${round}` });
      rooms.push(...made.rooms);
      keys.push(...made.keys);
      server = await startProcess(t, folder, env);
      for (const room of rooms) await assertRemembered(server.api, room);
      for (const key of keys) await assertInForce(server, key);
    }
    await server.end('SIGKILL');
    tell(t, rooms);
    await assertNothingElse(folder, rooms);
  });
});

interface Load {
  server: ServerProcess;
  folder: string;
  chance: Chance;
  name: string;
}

/** Many clients at once, until the server is gone from under them. */
async function crashUnderLoad(load: Load): Promise<{ rooms: RoomMemory[]; keys: string[] }> {
  const { server, chance } = load;
  const rooms = [rememberRoom(await server.api.room())];
  const clients = [
    ...Array.from({ length: 16 }, (_, i) => untilGone(() => write(load, rooms, `${load.name}-${i}`))),
    ...Array.from({ length: 4 }, (_, i) => untilGone((n) => upload(load, rooms, `${load.name}-${i}-${n}`))),
    untilGone(() => makeRoom(load, rooms)),
    untilGone(() => removeFile(load, rooms)),
  ];
  const key = makeKey(load);
  await pause(200 + chance.number(600));
  await server.end('SIGKILL');
  await Promise.all(clients);
  return { rooms, keys: await key };
}

/** Once the server is gone requests fail without an answer; an answer that is not as it should be fails the test. */
async function untilGone(act: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; ; n++) {
    try {
      await act(n);
    } catch (error) {
      if (/^(fetch failed|terminated)$/.test((error as Error).message)) return;
      throw error;
    }
  }
}

async function makeRoom({ server }: Load, rooms: RoomMemory[]): Promise<void> {
  const { status, json } = await server.api.post('/api/rooms');
  assert.equal(status, 201);
  rooms.push(rememberRoom(json.roomId));
}

let texts = 0;

async function write({ server, chance }: Load, rooms: RoomMemory[], by: string): Promise<void> {
  const { code, sent, answered } = chance.pick(rooms);
  texts += 1;
  const content = `${by} text ${texts} ${'x'.repeat(chance.number(2000))}`;
  sent.add(content);
  const { status, headers } = await server.api.post(`/api/rooms/${code}/content`, { json: { content } });
  assert.equal(status, 200);
  answered.set(Number(headers.get('etag')?.slice(1, -1)), content);
}

async function upload({ server, chance }: Load, rooms: RoomMemory[], name: string): Promise<void> {
  const { code, files } = chance.pick(rooms);
  const bytes = Buffer.alloc(64 * 1024 + chance.number(2 * 1024 * 1024 - 64 * 1024), `${name} `);
  files.set(name, { hash: hashOf(bytes), state: 'sent' });
  const asForm = chance.number(2) === 0;
  const { status, json } = asForm
    ? await server.api.post(`/api/rooms/${code}/upload`, {
        body: form(filePart(bytes, name)),
        headers: { 'content-type': formType },
      })
    : await server.api.upload(code, name, bytes);
  assert.equal(status, 201);
  files.set(name, { hash: hashOf(bytes), state: 'there', id: new URL(json.fileUrl).pathname.split('/')[2] ?? '' });
}

async function removeFile({ server, chance }: Load, rooms: RoomMemory[]): Promise<void> {
  const { code, files } = chance.pick(rooms);
  const file = [...files.values()].find(({ state }) => state === 'there');
  if (!file || chance.number(3) > 0) return void (await server.api.get('/livez'));
  file.state = 'removing';
  assert.equal((await server.api.delete(`/api/rooms/${code}/files/${file.id}`)).status, 200);
  file.state = 'removed';
}

/** Made by another process, which the crash does not touch: it may find the server there or gone. */
async function makeKey({ folder, name }: Load): Promise<string[]> {
  const { code, stdout, stderr } = await run(['keys', 'create', name], { POPROOM_DATA_DIR: folder });
  assert.equal(code, 0, stderr);
  return [stdout.trim()];
}

async function assertInForce({ api }: ServerProcess, key: string): Promise<void> {
  assert.equal((await api.get('/api/health', { headers: { 'x-api-key': key } })).status, 200);
}

/** Two hours later, what crashes left in the folder is swept up, and all the rest is named by a room. */
async function assertNothingElse(folder: string, rooms: RoomMemory[]): Promise<void> {
  const clock = () => Date.now() + 2 * 3600_000;
  const store = openSqliteStore({ folder, rules: guardRules(0), now: clock() });
  try {
    const blobs = openDiskBlobs({ folder: join(folder, 'files'), minFree: 0 });
    const parts = { rooms: store.rooms, blobs, bus: createLocalBus(), clock, secret: '' };
    await sweepRooms(parts);
    await removeStrays(parts);
    assert.deepEqual(await unfinishedBlobs(folder), []);
    assert.deepEqual(await store.rooms.listTrash(1), []);
    const left = (await storedBlobs(folder)).map((path) => basename(path));
    const known = await store.rooms.knownBlobs(left);
    assert.deepEqual(
      left.filter((blob) => !known.has(blob)),
      [],
    );
    const there = rooms.flatMap(({ files }) => [...files.values()]).filter(({ state }) => state === 'there');
    assert.equal(left.length, there.length);
  } finally {
    await store.close();
  }
}

function tell(t: TestContext, rooms: RoomMemory[]): void {
  const sum = (count: (room: RoomMemory) => number) => rooms.reduce((total, room) => total + count(room), 0);
  t.diagnostic(`${rooms.length} rooms, ${sum(({ sent }) => sent.size)} texts, ${sum(({ files }) => files.size)} files`);
}
