/** How long rooms live, and what is left of them. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertError } from '../support/assert-error.ts';
import { isDistributed } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { roomOperations } from '../support/room-operations.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { createOrphanBlob, createUnfinishedUpload, storedBlobs, unfinishedBlobs } from '../support/stored-blobs.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('the lifetime of a room', () => {
  it('[LIFE-1] is 24 hours, or the configured value', async (t) => {
    const { api, clock, restart } = await startTestServer(t);
    const lifetime = async () => Date.parse((await api.post('/api/rooms')).json.expiresAt) - clock.now;
    assert.equal(await lifetime(), day);
    await restart({ POPROOM_ROOM_TTL: '90m' });
    assert.equal(await lifetime(), 1.5 * hour);
  });

  it('[LIFE-1] is the requested one, from 60 seconds to 7 days', async (t) => {
    const { api, clock } = await startTestServer(t);
    for (const expiresIn of [60, 61, 86_400, 604_800]) {
      const { status, json } = await api.post('/api/rooms', { json: { expiresIn } });
      assert.equal(status, 201);
      assert.equal(Date.parse(json.expiresAt), clock.now + expiresIn * second);
    }
  });

  it('[LIFE-1] cannot be anything else', async (t) => {
    const { api } = await sharedServer(t);
    for (const expiresIn of [59, 604_801, 0, -60, 60.5, 1e300, '3600', '', true, null, [3600], { s: 60 }]) {
      const details = assertError(await api.post('/api/rooms', { json: { expiresIn } }), 400, 'VALIDATION_FAILED');
      assert.equal(details.field, 'expiresIn', JSON.stringify(expiresIn));
    }
    const infinite = await api.post('/api/rooms', {
      body: '{"expiresIn": 1e999}',
      headers: { 'content-type': 'application/json' },
    });
    assertError(infinite, 400, 'VALIDATION_FAILED');
  });

  it('[LIFE-1] is at most the configured maximum, which may be ten years', async (t) => {
    const { api, clock, restart } = await startTestServer(t, { POPROOM_ROOM_TTL: '1h', POPROOM_ROOM_MAX_TTL: '2h' });
    assert.equal((await api.post('/api/rooms', { json: { expiresIn: 7200 } })).status, 201);
    const details = assertError(await api.post('/api/rooms', { json: { expiresIn: 7201 } }), 400, 'VALIDATION_FAILED');
    assert.deepEqual(details, { field: 'expiresIn', minimum: 60, maximum: 7200 });
    await restart({ POPROOM_ROOM_MAX_TTL: '3650d' });
    const { status, json } = await api.post('/api/rooms', { json: { expiresIn: 3650 * 86_400 } });
    assert.deepEqual([status, Date.parse(json.expiresAt)], [201, clock.now + 3650 * day]);
  });
});

describe('an expired room', () => {
  it('[LIFE-2] is available until its last millisecond, and expired for every operation from then on', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited);
    for (const { name, run, success } of roomOperations) {
      const room = await api.room({ expiresIn: 60 });
      const untouched = await api.room({ expiresIn: 60 });
      clock.advance(60 * second - 1);
      assert.equal((await run(api, room)).status, success, name);
      clock.advance(1);
      assertError(await run(api, untouched), 410, 'ROOM_EXPIRED', name);
    }
  });

  it('[LIFE-2] makes its files unavailable', async (t) => {
    const { api, clock } = await startTestServer(t);
    const { fileUrl } = (await api.upload(await api.room({ expiresIn: 60 }), 'a.txt', 'abc')).json;
    clock.advance(60 * second - 1);
    assert.equal((await api.get(fileUrl)).text, 'abc');
    clock.advance(1);
    assertError(await api.get(fileUrl), 404, 'FILE_NOT_FOUND');
  });

  it('[LIFE-2] [UP-6] rejects an upload that started in time and is completed too late', async (t) => {
    const server = await startTestServer(t);
    const { api, clock, port } = server;
    const room = await api.room({ expiresIn: 60 });
    const socket = await openRawSocket(t, port);
    const head = { 'Content-Type': 'text/plain', 'X-File-Name': 'late.txt', 'Content-Length': 4 };
    await socket.send(`${requestHead('POST', `/api/rooms/${room}/upload`, head)}la`);
    await eventually('the upload is in progress', async () => (await unfinishedBlobs(server)).length === 1);
    clock.advance(60 * second);
    await socket.send('te');
    const { status, code } = await socket.response();
    assert.deepEqual({ status, code }, { status: 410, code: 'ROOM_EXPIRED' });
    await eventually('no blobs are left', async () => (await storedBlobs(server)).length === 0);
  });

  it('[LIFE-2] is reported with and without its PIN', async (t) => {
    const { api, clock } = await startTestServer(t);
    const room = await api.room({ pin: '0427', expiresIn: 60 });
    clock.advance(60 * second);
    for (const sending of [{}, { pin: '0427' }, { pin: '0000' }]) {
      assertError(await api.get(`/api/rooms/${room}`, sending), 410, 'ROOM_EXPIRED');
    }
  });

  for (const swept of [false, true]) {
    it(`[LIFE-2] [LIFE-3] returns 410 for 24 hours and then 404, when ${swept ? 'a sweep' : 'no sweep'} has run`, async (t) => {
      const server = await startTestServer(t, unlimited);
      const { api, clock } = server;
      const room = await api.room({ expiresIn: 60 });
      if (swept) await sweepAfter(server, 60 * second);
      else clock.advance(60 * second);
      clock.advance(day - 1);
      for (const { name, run } of roomOperations) assertError(await run(api, room), 410, 'ROOM_EXPIRED', name);
      clock.advance(1);
      for (const { name, run } of roomOperations) assertError(await run(api, room), 404, 'ROOM_NOT_FOUND', name);
    });
  }
});

describe('a deleted room', () => {
  it('[LIFE-4] returns 404 for every operation immediately, and never 410', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited);
    const room = await api.room({ expiresIn: 60 });
    await api.delete(`/api/rooms/${room}`);
    for (const { name, run } of roomOperations) assertError(await run(api, room), 404, 'ROOM_NOT_FOUND', name);
    clock.advance(hour);
    assertError(await api.get(`/api/rooms/${room}`), 404, 'ROOM_NOT_FOUND');
  });
});

describe('the sweep', () => {
  it('[LIFE-5] removes expired rooms and their bytes when the server starts, and every 15 seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const server = await startTestServer(t);
    const { api, clock } = server;
    const { counts } = await inspectStore(server);
    await api.upload(await api.room(), 'kept.txt', 'kept');
    await roomForAMinute(api);
    assert.equal((await storedBlobs(server)).length, 2);
    await sweepAfter(server, 60 * second);
    assert.deepEqual(await counts(), { rooms: 1, files: 1, trash: 0 });
    assert.equal((await storedBlobs(server)).length, 1);

    for (let round = 0; round < 2; round++) {
      await roomForAMinute(api);
      clock.advance(60 * second);
      await pass(t, 14_999);
      // Some steps may have been too short for the stores on a busy machine.
      await eventually('the stores respond', async () => (await api.get('/api/health')).status === 200);
      assert.equal((await storedBlobs(server)).length, 2);
      const before = sweeps(server);
      t.mock.timers.tick(1);
      await eventually('the sweep runs', () => sweeps(server) > before);
      assert.deepEqual(await counts(), { rooms: 1, files: 1, trash: 0 });
      assert.equal((await storedBlobs(server)).length, 1);
    }
  });

  it('[LIFE-5] removes bytes without a room when they are an hour old', async (t) => {
    const server = await startTestServer(t);
    const { api, clock } = server;
    // The age of files goes by the time of their store, which no test can turn.
    clock.now = Date.now();
    const { fileUrl } = (await api.upload(await api.room(), 'kept.txt', 'kept')).json;
    const [kept] = await storedBlobs(server);
    const stray = await createOrphanBlob(server, 'a'.repeat(64));
    await createUnfinishedUpload(server, 'b'.repeat(64));
    await api.room({ expiresIn: (hour - minute) / second });
    await sweepAfter(server, hour - minute);
    assert.deepEqual((await wholeBlobs(server)).sort(), [kept, stray].sort());
    // On the embedded engine, no other process can continue it.
    assert.deepEqual(await unfinishedBlobs(server), isDistributed ? ['b'.repeat(64)] : []);
    await sweepAfter(server, 2 * minute);
    assert.deepEqual(await storedBlobs(server), [kept]);
    assert.equal((await api.get(new URL(fileUrl).pathname)).text, 'kept');
  });
});

async function roomForAMinute(api: TestServer['api']): Promise<void> {
  await api.upload(await api.room({ expiresIn: 60 }), 'gone.txt', 'gone');
}

/** A server sweeps when it starts. The time passes while it is down, so that its last sweep cannot come first. */
async function sweepAfter(server: TestServer, ms: number): Promise<void> {
  const before = sweeps(server);
  await server.stop();
  server.clock.advance(ms);
  await server.restart();
  await eventually('the sweep runs', () => sweeps(server) > before);
}

/** In steps in which the stores respond, because their deadlines count intervals. */
async function pass(t: TestContext, ms: number): Promise<void> {
  const stepMs = 200;
  for (let left = ms; left > 0; left -= stepMs) {
    t.mock.timers.tick(Math.min(stepMs, left));
    await setTimeout(5);
  }
}

/** The server logs each sweep that removed something, after it has finished. */
function sweeps({ logged }: TestServer): number {
  return logged().split('"message":"swept"').length - 1;
}

async function wholeBlobs(server: TestServer): Promise<string[]> {
  const unfinished = await unfinishedBlobs(server);
  return (await storedBlobs(server)).filter((path) => !unfinished.includes(basename(path)));
}
