/** All files of a room as one zip archive, and tickets to download it by a link. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { apiKeysOf } from '../support/keys.ts';
import { openHandles } from '../support/process-stats.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { storedBlobs, writeBlob } from '../support/stored-blobs.ts';
import { unzip } from '../support/unzip.ts';

const MiB = 1024 * 1024;
const pin = '0427';
/** More than the buffers of a connection take. */
const largeFiles = { POPROOM_FILE_MAX: '16MiB', POPROOM_FREE_LIMIT: '0' };
const large = Buffer.alloc(16 * MiB, 'x');

async function upload({ api }: TestServer, room: string, path: string, text: string | Buffer = path, asked = {}) {
  const [name = '', ...folders] = path.split('/').reverse();
  const body = typeof text === 'string' ? text : new Uint8Array(text);
  const headers = { 'content-type': 'text/plain', 'x-file-name': encodeURIComponent(name) };
  const folder = encodeURIComponent(folders.reverse().join('/'));
  const { status, json } = await api.post(`/api/rooms/${room}/upload?folder=${folder}`, { body, headers, ...asked });
  assert.equal(status, 201);
  return new URL(json.fileUrl).pathname.split('/')[2] as string;
}

const zipOf = (room: string) => `/api/rooms/${room}/files.zip`;

async function download({ url }: TestServer, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(path.startsWith('http') ? path : url + path, { headers });
  assert.equal(response.status, 200);
  return { headers: response.headers, bytes: await response.bytes() };
}

async function pathsIn(server: TestServer, path: string): Promise<string[]> {
  return unzip((await download(server, path)).bytes).map((file) => file.path);
}

async function ticketFor({ api }: TestServer, room: string, asked = {}): Promise<{ ticket: string; url: string }> {
  const { status, json } = await api.post(`/api/rooms/${room}/tickets`, asked);
  assert.equal(status, 201);
  return json;
}

describe('the zip archive of a room', () => {
  it('[ZIP-1] has all files with their folders and times, and its length is known', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    await upload(server, room, 'größe 日本 🎉.txt');
    await upload(server, room, 'photos/2026/a.jpg', Buffer.alloc(300_000, 'abc'));
    await upload(server, room, 'empty', '');
    const { headers, bytes } = await download(server, zipOf(room.toLowerCase()));
    const found = unzip(bytes);
    assert.deepEqual(
      found.map(({ path, bytes: content }) => [path, content.length]),
      [
        ['empty', 0],
        ['größe 日本 🎉.txt', Buffer.byteLength('größe 日本 🎉.txt')],
        ['photos/2026/a.jpg', 300_000],
      ],
    );
    assert.equal(String(found[1]?.bytes), 'größe 日本 🎉.txt');
    for (const { modifiedAt } of found) assert.equal(modifiedAt, server.clock.now);

    const look = await server.api.call('HEAD', zipOf(room));
    assert.deepEqual([look.status, look.text], [200, '']);
    for (const each of [headers, look.headers]) {
      assert.equal(each.get('content-length'), String(bytes.length));
      assert.equal(each.get('content-type'), 'application/zip');
      assert.equal(each.get('content-disposition'), `attachment; filename="poproom-${room}.zip"`);
      assert.equal(each.get('cache-control'), 'no-store');
    }
  });

  it('[ZIP-1] leaves one-time files out', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const secret = await server.api.post(`/api/rooms/${room}/upload?once=true`, {
      body: 'secret',
      headers: { 'content-type': 'text/plain', 'x-file-name': 'secret.txt' },
    });
    assert.equal(secret.status, 201);
    assertError(await server.api.get(zipOf(room)), 404, 'FILE_NOT_FOUND');
    await upload(server, room, 'a.txt');
    assert.deepEqual(await pathsIn(server, zipOf(room)), ['a.txt']);
    assert.equal((await server.api.get(`/api/rooms/${room}/files`)).json.files.length, 2);
  });

  it('[ZIP-1] does not exist for a room without files', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    assertError(await api.get(zipOf(room)), 404, 'FILE_NOT_FOUND');
    assertError(await api.get(zipOf('7KQ2MX')), 404, 'ROOM_NOT_FOUND');
    assert.equal((await api.call('HEAD', zipOf(room))).status, 404);
  });

  it('[ZIP-2] has distinct names that are safe on every system', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const names = ['a.txt', 'A.txt', 'x/a.txt', 'X/a.txt', '../../.bashrc', 'nul.txt', 'what?.txt', '-rf', 'x/../b'];
    for (const name of names) await upload(server, room, name);
    assert.deepEqual(await pathsIn(server, zipOf(room)), [
      'A (2).txt',
      'X (2)/a.txt',
      '_-rf',
      '_.bashrc',
      '_nul.txt',
      'a.txt',
      'what_.txt',
      'x/a.txt',
      'x/b',
    ]);
  });

  it('[ZIP-3] has only the selected files, and all of them', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const room = await api.room();
    const [a, b] = [await upload(server, room, 'a.txt'), await upload(server, room, 'a.txt', 'second')];
    await upload(server, room, 'c.txt');
    const elsewhere = await upload(server, await api.room(), 'other.txt');
    const [only] = unzip((await download(server, `${zipOf(room)}?files=${b}`)).bytes);
    assert.deepEqual([only?.path, String(only?.bytes)], ['a.txt', 'second']);
    assert.deepEqual(await pathsIn(server, `${zipOf(room)}?files=${b},${a},${b}`), ['a (2).txt', 'a.txt']);
    const { ticket } = await ticketFor(server, room);
    assert.deepEqual(await pathsIn(server, `${zipOf(room)}?files=${a}&ticket=${ticket}`), ['a.txt']);
    for (const unknown of [elsewhere, '0'.repeat(32)])
      assertError(await api.get(`${zipOf(room)}?files=${a},${unknown}`), 404, 'FILE_NOT_FOUND');
    for (const invalid of ['', 'x', `${a},`, Array(201).fill(a).join(',')])
      assertError(await api.get(`${zipOf(room)}?files=${invalid}`), 400, 'VALIDATION_FAILED');
  });

  it('[ZIP-6] needs the PIN, and counts as a request', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '7' });
    const { api } = server;
    const room = await api.room({ pin });
    await upload(server, room, 'a.txt', 'a', { pin });
    assertError(await api.get(zipOf(room)), 401, 'PIN_REQUIRED');
    assertError(await api.get(zipOf(room), { pin: '9999' }), 403, 'PIN_INCORRECT');
    assertError(await api.post(`/api/rooms/${room}/tickets`), 401, 'PIN_REQUIRED');
    for (const left of ['1', '0']) {
      const { headers } = await download(server, zipOf(room), { 'x-room-pin': pin });
      assert.equal(headers.get('x-ratelimit-remaining'), left);
    }
    assertError(await api.get(zipOf(room), { pin }), 429, 'RATE_LIMITED');
  });
});

describe('a zip archive that cannot be completed', () => {
  it('[ZIP-5] ends the connection if the bytes of a file were changed or lost, and logs it', async (t) => {
    const server = await startTestServer(t);
    for (const bytes of ['0123', '0123456789, and more']) {
      const room = await server.api.room();
      await upload(server, room, 'a.txt', '0123456789');
      const [path = ''] = await storedBlobs(server);
      await writeBlob(server, path, bytes);
      await assert.rejects(async () => (await fetch(server.url + zipOf(room))).bytes());
      await eventually('it is logged', () => server.logged().includes(`${bytes.length} bytes instead of 10 bytes`));
      await server.api.delete(`/api/rooms/${room}`);
      await eventually('its bytes are removed', async () => (await storedBlobs(server)).length === 0);
    }
  });

  it('[ZIP-4] holds one open file for a slow reader, and none after it disconnects', async (t) => {
    const server = await startTestServer(t, { ...largeFiles, POPROOM_FILES: 'disk:' });
    const room = await server.api.room();
    await upload(server, room, 'a', large);
    await upload(server, room, 'b');
    const openFiles = async () =>
      (await openHandles(process.pid)).filter((path) => path.startsWith(`${server.folder}/files/`)).length;
    const socket = await openRawSocket(t, server.port, { readsResponses: false });
    await socket.send(requestHead('GET', zipOf(room)));
    await eventually('the archive has started', async () => (await openFiles()) === 1);
    socket.destroy();
    await eventually('the file is closed', async () => (await openFiles()) === 0);
    assert.doesNotMatch(server.logged(), /"level":"error"/);
  });

  it('[slow] [ZIP-5] [ZIP-8] is aborted if a file is removed before its turn, and refused if there are too many', async (t) => {
    const server = await startTestServer(t, largeFiles);
    const room = await server.api.room();
    const download = (headers = {}) => fetch(server.url + zipOf(room), { headers });
    await upload(server, room, 'large', large);
    const removed = await upload(server, room, 'removed');
    const unread = await download();
    await server.api.delete(`/api/rooms/${room}/files/${removed}`);
    await assert.rejects(unread.bytes());
    assert.doesNotMatch(server.logged(), /"level":"error"/, 'this is not an error of the server');

    const sockets = await Promise.all(
      Array.from({ length: 63 }, () => openRawSocket(t, server.port, { readsResponses: false })),
    );
    await Promise.all(sockets.map((socket) => socket.send(requestHead('GET', zipOf(room)))));
    const refused = await eventually('it is refused', () => statusIf(download(), 503));
    assert.equal(refused.headers.get('retry-after'), '30');
    assert.equal((await server.api.call('HEAD', zipOf(room))).status, 200);
    assert.ok(await statusIf(download({ 'x-forwarded-for': '192.0.2.7' }), 200), 'another client is not affected');
    for (const socket of sockets) socket.destroy();
    await eventually('it is sent again', () => statusIf(download(), 200));
  });

  it('[slow] [ZIP-8] [TRANSFER-2] ends if it is read slowly and another one needs its place', async (t) => {
    const server = await startTestServer(t, largeFiles);
    const room = await server.api.room();
    await upload(server, room, 'large', large);
    const download = () => statusIf(fetch(server.url + zipOf(room)), 200);
    const sockets = await Promise.all(
      Array.from({ length: 63 }, () => openRawSocket(t, server.port, { readsResponses: false })),
    );
    await Promise.all(sockets.map((socket) => socket.send(requestHead('GET', zipOf(room)))));
    await eventually('all places are taken', async () => {
      const { text } = await server.api.get('/metrics');
      return Number(/held_bytes\{kind="archives"\} (\d+)/.exec(text)?.[1]) >= 63 * 256 * 1024;
    });
    // The rate is measured from here, without the bytes that the system has taken.
    server.clock.advance(1000);
    assert.equal(await download(), undefined);
    server.clock.advance(11_000);
    assert.ok(await download());
    for (const socket of sockets) socket.destroy();
  });
});

/** The response if it has this status. Its body is not read. */
async function statusIf(responding: Promise<Response>, status: number): Promise<Response | undefined> {
  const response = await responding;
  await response.body?.cancel();
  return response.status === status ? response : undefined;
}

describe('a ticket for a zip archive', () => {
  it('[ZIP-6] replaces the PIN, does not count, and works again until it expires', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const { api, clock } = server;
    const room = await api.room({ pin });
    await upload(server, room, 'a.txt', 'a', { pin });
    const { ticket, url } = await ticketFor(server, room, { json: { pin } });
    assert.equal(url, `${server.url}/api/rooms/${room}/files.zip?ticket=${ticket}`);
    for (let i = 0; i < 3; i++) {
      const { headers, bytes } = await download(server, url);
      assert.equal(headers.get('x-ratelimit-remaining'), '0');
      assert.equal(unzip(bytes).length, 1);
    }
    assert.equal((await api.call('HEAD', url)).status, 200);
    const other = { headers: { 'x-room-pin': pin }, from: '192.0.2.1' };
    assertError(await api.get(`/api/rooms/${room}/files?ticket=${ticket}`, { from: '192.0.2.2' }), 401, 'PIN_REQUIRED');
    assert.equal((await api.get(`/api/rooms/${room}/files`, other)).status, 200);
    clock.advance(60_000);
    assertError(await api.get(url, { from: '192.0.2.3' }), 403, 'INVALID_TICKET');
    assertError(await api.get(url, { from: '192.0.2.3', pin }), 403, 'INVALID_TICKET');
  });

  it('[ZIP-6] replaces the API key, and works from a page of another site', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const headers = { authorization: `Bearer ${await apiKeysOf(t, server).make('reader', 'pro')}` };
    const room = await server.api.room({}, { headers });
    await server.api.upload(room, 'a.txt', 'a', { headers });
    const { url } = await ticketFor(server, room, { headers });
    // fetch would replace these headers.
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const socket = await openRawSocket(t, server.port);
    await socket.send(requestHead('GET', url.slice(server.url.length), link));
    assert.equal((await socket.response()).status, 200);
    await socket.send(requestHead('GET', zipOf(room), link));
    assert.equal((await socket.response()).code, 'VALIDATION_FAILED');
    assertError(await server.api.get(zipOf(room)), 401, 'API_KEY_REQUIRED');
  });

  it('[ZIP-7] is not valid if it is forged, for another room, or after the room was deleted', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const [room, other] = [await api.room({ pin }), await api.room()];
    await upload(server, room, 'a.txt', 'a', { pin });
    await upload(server, other, 'b.txt');
    const { ticket, url } = await ticketFor(server, room, { pin });
    const forged = ticket.slice(0, -1) + (ticket.endsWith('A') ? 'B' : 'A');
    for (const wrong of [forged, '', 'x', ticket.replace(/^\w+/, 'zzzzzz')])
      assertError(await api.get(`${zipOf(room)}?ticket=${wrong}`, { pin }), 403, 'INVALID_TICKET');
    assertError(await api.get(`${zipOf(other)}?ticket=${ticket}`), 403, 'INVALID_TICKET');
    assertError(await api.get(`${zipOf('7KQ2MX')}?ticket=${ticket}`), 403, 'INVALID_TICKET');
    await api.delete(`/api/rooms/${room}`, { pin });
    assertError(await api.get(url), 404, 'ROOM_NOT_FOUND');
  });

  it('[ZIP-8] makes many requests free, and counts the others', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '100' });
    const room = await server.api.room();
    await upload(server, room, 'a.txt');
    const { url } = await ticketFor(server, room);
    const remaining = async () => (await server.api.call('HEAD', url)).headers.get('x-ratelimit-remaining');
    assert.equal(await remaining(), '97');
    await eventually('one of them counts', async () => {
      const left = await Promise.all(Array.from({ length: 30 }, remaining));
      return left.some((count) => count !== '97');
    });
  });
});
