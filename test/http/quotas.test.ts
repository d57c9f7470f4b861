/** Storage quotas of one client and of all: exact to the byte, and freed at the end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { filePart, form, formType } from '../support/form.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { storedBlobs } from '../support/stored-blobs.ts';
import { streamed } from '../support/streamed-body.ts';

const KiB = 1024;
const noLimit = { POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '0' };
const megabyte = { ...noLimit, POPROOM_CLIENT_MAX_BYTES: '1MiB' };
const [here, elsewhere] = ['203.0.113.7', '203.0.113.8'];

describe('the quota of a client', () => {
  it('[UP-8] can be used to the last byte, across all rooms, and reports its usage and when space is freed', async (t) => {
    const { api } = await startTestServer(t, megabyte);
    const [one, two] = [await api.room({ expiresIn: 3600 }), await api.room()];
    const send = (room: string, bytes: number, from = here) => api.upload(room, 'a.bin', Buffer.alloc(bytes), { from });
    assert.equal((await send(one, 600 * KiB)).status, 201);
    const refused = await send(two, 424 * KiB + 1);
    assertError(refused, 413, 'QUOTA_EXCEEDED');
    const { message, details } = refused.json.error;
    assert.match(message, /^You are using 0\.6 MiB of 1 MiB\. /);
    const { expiresAt } = (await api.get(`/api/rooms/${one}`)).json;
    assert.deepEqual(details, { scope: 'client', used: 600 * KiB, maximum: 1024 * KiB, freesAt: expiresAt });
    assert.equal((await send(two, 424 * KiB)).status, 201, 'the last byte fits');
    assertError(await send(two, 1), 413, 'QUOTA_EXCEEDED');
    assert.equal((await send(two, 0)).status, 201, 'an empty file needs no room');
    assert.equal((await send(two, 1024 * KiB, elsewhere)).status, 201, 'another client has its own');
  });

  for (const [how, encode] of Object.entries({
    'of an announced length': (bytes: Buffer) => ({ body: bytes, headers: {} }),
    'as a form': (bytes: Buffer) => ({ body: form(filePart(bytes)), headers: { 'content-type': formType } }),
  })) {
    it(`[slow] [UP-8] is exact when uploads ${how} are concurrent`, async (t) => {
      const server = await startTestServer(t, megabyte);
      const { api } = server;
      const rooms = await Promise.all(Array.from({ length: 4 }, () => api.room()));
      const bytes = Buffer.alloc(100 * KiB, 'x');
      const race = Array.from({ length: 30 }, (_, i) => {
        const { body, headers } = encode(bytes);
        return api.upload(rooms[i % rooms.length] ?? '', `${i}.bin`, body, { from: here, headers });
      });
      assertOnly(await Promise.all(race), 10);
      assert.equal((await storedBlobs(server)).length, 10);
      assert.equal((await api.upload(rooms[0] ?? '', 'rest', Buffer.alloc(24 * KiB), { from: here })).status, 201);
      assertError(await api.upload(rooms[0] ?? '', 'more', 'x', { from: here }), 413, 'QUOTA_EXCEEDED');
    });
  }

  it('[UP-8] is not exceeded by uploads that do not announce their length', async (t) => {
    const server = await startTestServer(t, megabyte);
    const { api } = server;
    const room = await api.room();
    const send = (bytes: number) => api.upload(room, 'a.bin', streamed(Buffer.alloc(bytes)), { from: here });
    assert.equal((await send(1000 * KiB)).status, 201);
    assertError(await send(24 * KiB + 1), 413, 'QUOTA_EXCEEDED');
    const race = await Promise.all(Array.from({ length: 8 }, () => send(10 * KiB)));
    const stored = race.filter(({ status }) => status === 201).length;
    assert.ok(stored <= 2, `${stored} of 10 KiB fit into 24 KiB`);
    assert.equal((await send((24 - 10 * stored) * KiB)).status, 201, 'nothing stays of what was refused');
    assert.equal((await storedBlobs(server)).length, stored + 2);
  });

  it('[slow] [UP-11] does not count removed, interrupted, malformed or rejected files', async (t) => {
    const server = await startTestServer(t, megabyte);
    const { api } = server;
    const room = await api.room();
    const all = Buffer.alloc(1024 * KiB);
    const fill = (name: string) => api.upload(room, name, all, { from: here });
    const { fileId } = await firstFile(api, room, await fill('removed'));
    await api.delete(`/api/rooms/${room}/files/${fileId}`);
    assert.equal((await fill('in a room that is deleted')).status, 201);
    await api.delete(`/api/rooms/${room}`);

    const next = await api.room();
    const malformed = form(filePart(Buffer.alloc(900 * KiB))).subarray(0, -10);
    const headers = { 'content-type': formType };
    assert.equal((await api.upload(next, 'cut.bin', malformed, { from: here, headers })).status, 400);
    assertError(await api.upload(next, 'much', Buffer.alloc(1024 * KiB + 1), { from: here }), 413, 'QUOTA_EXCEEDED');
    await breakOff(t, server, next);
    // The reservation of a disconnected sender is released a moment later.
    await eventually(
      'all of it is free',
      async () => (await api.upload(next, 'whole', all, { from: here })).status === 201,
    );
    await eventually('only the last one is stored', async () => (await storedBlobs(server)).length === 1);
  });

  it('[slow] [UP-11] is freed when a room has expired', async (t) => {
    const server = await startTestServer(t, megabyte);
    const { api, clock } = server;
    const all = Buffer.alloc(1024 * KiB);
    const room = await api.room({ expiresIn: 60 });
    assert.equal((await api.upload(room, 'a.bin', all, { from: here })).status, 201);
    clock.advance(60_000);
    const next = await api.room();
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 410);
    await server.restart();
    await eventually('the sweep has removed it', async () => {
      return (await api.upload(next, 'a.bin', all, { from: here })).status === 201;
    });
  });

  it('[UP-11] survives a restart', async (t) => {
    const server = await startTestServer(t, megabyte);
    const room = await server.api.room();
    assert.equal((await server.api.upload(room, 'a.bin', Buffer.alloc(1000 * KiB), { from: here })).status, 201);
    await server.restart();
    assertError(await server.api.upload(room, 'b.bin', Buffer.alloc(25 * KiB), { from: here }), 413, 'QUOTA_EXCEEDED');
    assert.equal((await server.api.upload(room, 'b.bin', Buffer.alloc(24 * KiB), { from: here })).status, 201);
  });

  it('[UP-11] stores no address with a file', async (t) => {
    const server = await startTestServer(t, { ...megabyte, POPROOM_MISS_LIMIT: '0' });
    const room = await server.api.room({}, { from: here });
    assert.equal((await server.api.upload(room, 'a.bin', 'x', { from: here })).status, 201);
    const stored = (await (await inspectStore(server)).bytes()).toString('latin1');
    assert.ok(!stored.includes(here));
  });

  it('[UP-12] is larger with an API key, the same from every address, and separate from the address', async (t) => {
    const server = await startTestServer(t, { ...megabyte, POPROOM_KEY_MAX_BYTES: '2MiB' });
    const { api } = server;
    const headers = bearer(await apiKeysOf(t, server).make('build', 'pro'));
    const room = await api.room();
    const send = (MiB: number, from: string, more = {}) =>
      api.upload(room, 'a.bin', Buffer.alloc(MiB * 1024 * KiB), { from, headers: more });
    assert.equal((await send(1, here, headers)).status, 201);
    assert.equal((await send(1, elsewhere, headers)).status, 201);
    const refused = await send(1, elsewhere, headers);
    assertError(refused, 413, 'QUOTA_EXCEEDED');
    assert.equal(refused.json.error.details.maximum, 2048 * KiB);
    assert.equal((await send(1, here)).status, 201);
  });

  it('[UP-9] is shared by all addresses of an IPv6 /64, and four times as large for its /48', async (t) => {
    const { api } = await startTestServer(t, megabyte);
    const room = await api.room();
    const send = (from: string, KiBs: number) => api.upload(room, 'a.bin', Buffer.alloc(KiBs * KiB), { from });
    assert.equal((await send('2001:db8:1:1::1', 1024)).status, 201);
    assertError(await send('2001:db8:1:1:ffff::2', 1), 413, 'QUOTA_EXCEEDED');
    for (const n of [2, 3, 4]) assert.equal((await send(`2001:db8:1:${n}::1`, 1000)).status, 201);
    const refused = await send('2001:db8:1:5::1', 73);
    assertError(refused, 413, 'QUOTA_EXCEEDED');
    const { scope, used, maximum } = refused.json.error.details;
    assert.deepEqual([scope, used, maximum], ['network', 4024 * KiB, 4096 * KiB]);
    assert.equal((await send('2001:db8:1:5::1', 72)).status, 201);
    assert.equal((await send('2001:db8:2:1::1', 1024)).status, 201, 'another /48 has its own');
  });
});

describe('long texts', () => {
  const write = (api: TestServer['api'], room: string, KiBs: number, from = here) =>
    api.post(`/api/rooms/${room}/content`, { json: { content: randomText(KiBs * KiB) }, from });

  it('[slow] [UP-8] count against the address that created the room, with their history, and are rejected when it is full', async (t) => {
    const { api } = await startTestServer(t, megabyte);
    const [room, other] = [await api.room({}, { from: here }), await api.room({}, { from: here })];
    assert.equal((await write(api, room, 400, elsewhere)).status, 200);
    assert.equal((await write(api, other, 400)).status, 200);
    const refused = await write(api, room, 600);
    assertError(refused, 413, 'QUOTA_EXCEEDED');
    const { scope, used, maximum } = refused.json.error.details;
    assert.deepEqual([scope, used, maximum], ['client', 896 * KiB, 1024 * KiB]);
    const { headers } = await api.get(`/api/rooms/${room}/content`);
    assert.equal(headers.get('etag'), '"1"', 'nothing was written');
    assertError(await api.upload(room, 'a.bin', Buffer.alloc(129 * KiB), { from: here }), 413, 'QUOTA_EXCEEDED');
    const history = async () => (await api.get(`/api/rooms/${room}/history`)).json.history.length;
    assert.equal((await write(api, room, 410)).status, 200);
    assert.equal(await history(), 0, 'the earlier text has no room');

    await api.delete(`/api/rooms/${other}`);
    assert.equal((await write(api, room, 60)).status, 200);
    assert.equal(await history(), 1);
    assert.equal((await api.upload(room, 'a.bin', Buffer.alloc(129 * KiB), { from: here })).status, 201);
  });

  it('[UP-8] are rejected by a message on a live channel, which stays open', async (t) => {
    const server = await startTestServer(t, { ...noLimit, POPROOM_CLIENT_MAX_BYTES: '128KiB' });
    const room = await server.api.room({ history: false });
    const device = await joinRoom(t, server.url, room);
    await device.next('snapshot');
    device.send({ type: 'content', content: randomText(200 * KiB), baseVersion: 0, ref: '1' });
    const { error, ref } = await device.next('error');
    assert.deepEqual([error.code, ref], ['QUOTA_EXCEEDED', '1']);
    device.send({ type: 'content', content: 'short', baseVersion: 0, ref: '2' });
    assert.equal((await device.next('written')).version, 1);
  });

  it('[slow] [UP-8] do not count up to 64 KiB, nor in rooms that an API key created', async (t) => {
    const server = await startTestServer(t, { ...noLimit, POPROOM_CLIENT_MAX_BYTES: '1KiB' });
    const { api } = server;
    const room = await api.room({ history: false }, { from: here });
    assert.equal((await write(api, room, 30)).status, 200);
    assert.equal((await write(api, room, 65)).status, 413);
    const headers = bearer(await apiKeysOf(t, server).make('build', 'pro'));
    const { json } = await api.post('/api/rooms', { json: {}, headers });
    assert.equal((await write(api, json.roomId, 500)).status, 200);
  });

  it('[slow] [UP-8] do not count the checkpoints that newer ones displaced', async (t) => {
    const { api, clock } = await startTestServer(t, megabyte);
    const room = await api.room({}, { from: here });
    for (let n = 0; n < 150; n++) {
      assert.equal((await write(api, room, 1)).status, 200);
      clock.advance(5000);
    }
    assert.equal((await api.get(`/api/rooms/${room}/history`)).json.history.length, 50);
    const upload = await api.upload(room, 'a.bin', Buffer.alloc(1024 * KiB), { from: here });
    assert.equal(upload.status, 201, '50 KiB of history are below 64 KiB');
  });

  it('[UP-11] that become short, or lose their history, count for less', async (t) => {
    const { api } = await startTestServer(t, megabyte);
    const room = await api.room({}, { from: here });
    assert.equal((await write(api, room, 450)).status, 200);
    assert.equal((await write(api, room, 1)).status, 200);
    await api.delete(`/api/rooms/${room}/history`);
    assert.equal((await write(api, room, 1)).status, 200);
    await eventually('all of it is free', async () => {
      return (await api.upload(room, 'a.bin', Buffer.alloc(1024 * KiB), { from: here })).status === 201;
    });
  });
});

/** Nothing that could be stored in less. */
const randomText = (length: number) => randomBytes(length / 2).toString('hex');

describe('the quota of all clients', () => {
  it('[UP-10] [RUN-15] rejects files with 507, and leaves the server ready for texts', async (t) => {
    const { api } = await startTestServer(t, { ...noLimit, POPROOM_TOTAL_MAX_BYTES: '1MiB' });
    const room = await api.room();
    const race = Array.from({ length: 30 }, (_, i) =>
      api.upload(room, 'a.bin', Buffer.alloc(100 * KiB), { from: `203.0.113.${i}` }),
    );
    const responses = await Promise.all(race);
    for (const response of responses) if (response.status !== 201) assertError(response, 507, 'STORAGE_FULL');
    const stored = responses.filter(({ status }) => status === 201).length;
    assert.ok(stored <= 10);
    const rest = 1024 * KiB - stored * 100 * KiB;
    assert.equal((await api.upload(room, 'rest.bin', Buffer.alloc(rest))).status, 201);
    const refused = await api.upload(room, 'b.bin', 'x', { from: '203.0.113.99' });
    assertError(refused, 507, 'STORAGE_FULL');
    assert.deepEqual(refused.json.error.details, { scope: 'total', used: 1024 * KiB, maximum: 1024 * KiB });

    assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content: 'texts work' } })).status, 200);
    const { status, json } = await api.get('/readyz');
    assert.deepEqual([status, json.status, json.checks.disk, json.checks.uploads], [200, 'ready', 'ok', 'full']);
    const { text } = await api.get('/metrics');
    assert.match(text, /^poproom_stored_bytes\{state="stored"\} 1048576$/m);
    assert.match(text, /^poproom_stored_bytes\{state="reserved"\} 0$/m);
    assert.match(text, /^poproom_stored_bytes_limit 1048576$/m);

    await api.delete(`/api/rooms/${room}`);
    assert.equal((await api.get('/readyz')).json.checks.uploads, 'ok');
    assert.equal((await api.upload(await api.room(), 'c.bin', 'x')).status, 201);
  });

  it('[RUN-15] is reported as full, and the server as ready, when the disk has too little space for files', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_MIN_FREE_DISK: '900000GiB' });
    const { status, json } = await api.get('/readyz');
    assert.deepEqual([status, json.checks.disk, json.checks.uploads], [200, 'ok', 'full']);
    const room = await api.room();
    assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } })).status, 200);
  });
});

/** Fails unless exactly this many were stored, and all others rejected. */
function assertOnly(responses: readonly ApiResponse[], stored: number): void {
  const refused = responses.filter(({ status }) => status !== 201);
  for (const response of refused) assertError(response, 413, 'QUOTA_EXCEEDED');
  assert.equal(responses.length - refused.length, stored);
}

async function firstFile(api: TestServer['api'], room: string, uploaded: ApiResponse): Promise<{ fileId: string }> {
  assert.equal(uploaded.status, 201);
  return (await api.get(`/api/rooms/${room}/files`)).json.files[0];
}

/** Leaves in the middle of a file. */
async function breakOff(t: Parameters<typeof openRawSocket>[0], server: TestServer, room: string): Promise<void> {
  const socket = await openRawSocket(t, server.port);
  const headers = {
    'Content-Type': 'text/plain',
    'X-File-Name': 'half.txt',
    'X-Forwarded-For': here,
    'Content-Length': 1024 * KiB,
  };
  await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers) + 'x'.repeat(1000));
  await eventually('the upload has begun', async () => (await storedBlobs(server)).length === 1);
  socket.destroy();
}
