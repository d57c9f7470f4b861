/** A full disk: operations that need space are rejected, the rest works, and all of it does when there is space. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { assertAcknowledged, hashOf, type TrackedFile, type TrackedRoom, trackRoom } from '../support/acknowledged.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { assertErased, assertFound, uniqueText } from '../support/erasure.ts';
import { eventually } from '../support/eventually.ts';
import { type Executable, run, type ServerProcess, startProcess } from '../support/process.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { createUpload, offsetOf, partType, sendPart, startUpload, tus } from '../support/tus.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

const env = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', POPROOM_MIN_FREE_DISK: '64KiB' };
const withoutReserve = { ...env, POPROOM_MIN_FREE_DISK: '0' };

describe('a full disk', () => {
  it('[FAULT-2] [UP-4] rejects texts, rooms and files, and accepts them when there is space again', async (t) => {
    const { server, disk, room } = await furnished(t, env);
    const locked = await server.api.room({ pin: '0427' });
    // Otherwise the next erasure of deleted text empties the log, and there is space again.
    const log = join(disk.testPath, 'poproom.db-wal');
    await eventually('the log of the database is empty', async () => (await stat(log)).size === 0);
    await disk.fill();
    await refuses(() => write(server, room, 'x'.repeat(100_000)));
    await refuses(() => write(server, room, 'short'));
    await refuses(() => server.api.post('/api/rooms'));
    await assertWrongPinIsTold(server, locked);
    assertError(await server.api.upload(room.code, 'late.txt', 'late'), 507, 'STORAGE_FULL');
    assert.equal((await storedBlobs(disk.testPath)).length, 1, 'nothing of a refused file stays');
    await assertNotReady(server);
    await assertReads(server, room);

    await disk.free();
    assert.equal((await server.api.get('/readyz')).status, 200);
    assert.equal((await write(server, room, 'there is room')).status, 200);
    assert.equal((await server.api.post('/api/rooms')).status, 201);
    assert.equal((await upload(server, room, 'in time.txt')).status, 201);
    await assertReads(server, room);
  });

  it('[FAULT-2] that is full of texts recovers automatically when rooms end', async (t) => {
    const { server, disk } = await furnished(t, withoutReserve);
    await disk.fill(72);
    const rooms: string[] = [];
    const text = { json: { content: 'x'.repeat(1_000_000) } };
    await refuses(async () => {
      const made = await server.api.post('/api/rooms');
      if (made.status !== 201) return made;
      rooms.push(made.json.roomId);
      return server.api.post(`/api/rooms/${rooms.at(-1)}/content`, text);
    });
    await assertNotReady(server);
    for (const room of rooms) assert.equal((await server.api.delete(`/api/rooms/${room}`)).status, 200);
    const room = await server.api.room();
    assert.equal((await server.api.get('/readyz')).status, 200);
    assert.equal((await server.api.post(`/api/rooms/${room}/content`, text)).status, 200);
  });

  it('[FAULT-2] [UP-6] rejects a file in the middle, keeps nothing of it, and accepts it later', async (t) => {
    const { server, disk, room } = await furnished(t, withoutReserve);
    const [bytes, half] = [1024 * 1024, 'x'.repeat(512 * 1024)];
    const socket = await openRawSocket(t, server.port);
    const head = { 'Content-Type': 'text/plain', 'X-File-Name': 'half.txt', 'Content-Length': bytes };
    await socket.send(requestHead('POST', `/api/rooms/${room.code}/upload`, head) + half);
    await eventually('half of it is written', async () => (await storedBlobs(disk.testPath)).length === 2);
    await disk.fill();
    await socket.send(half);
    assertError(fromRawResponse(await socket.response()), 507, 'STORAGE_FULL');
    assert.equal((await storedBlobs(disk.testPath)).length, 1, 'nothing of it stays');
    await assertNotReady(server);
    await assertReads(server, room);

    await disk.free();
    assert.equal((await server.api.get('/readyz')).status, 200);
    assert.equal((await upload(server, room, 'half.txt', half + half)).status, 201);
    await assertReads(server, room);
    assert.deepEqual([(await storedBlobs(disk.testPath)).length, await unfinishedBlobs(disk.testPath)], [2, []]);
  });

  it('[FAULT-2] [UP-4] [TUS-4] interrupts a resumable upload, which continues when there is space', async (t) => {
    const { server, disk, room } = await furnished(t, env);
    const { api } = server;
    const bytes = Buffer.alloc(2 * 1024 * 1024, 'resumable ');
    const path = await startUpload(api, room.code, bytes.length);
    const quarter = bytes.length / 4;
    assert.equal((await sendPart(api, path, 0, bytes.subarray(0, quarter))).status, 204);
    await disk.fill(1);
    assertError(await sendPart(api, path, quarter, bytes.subarray(quarter)), 507, 'STORAGE_FULL');
    assert.equal(await offsetOf(api, path), quarter, 'the space is checked before the first byte is stored');
    assertError(await createUpload(api, room.code, bytes.length), 507, 'STORAGE_FULL');

    await disk.free();
    const socket = await openRawSocket(t, server.port);
    const head = { ...tus, ...partType, 'Upload-Offset': quarter, 'Content-Length': bytes.length - quarter };
    await socket.send(requestHead('PATCH', path, head));
    await socket.send(bytes.subarray(quarter, 2 * quarter));
    const unfinished = join(disk.testPath, 'files', 'unfinished', (await unfinishedBlobs(disk.testPath))[0] ?? '');
    await eventually('half of it is written', async () => (await stat(unfinished)).size >= 2 * quarter);
    await disk.fill();
    await socket.send(bytes.subarray(2 * quarter));
    assertError(fromRawResponse(await socket.response()), 507, 'STORAGE_FULL');

    await disk.free();
    const offset = await offsetOf(api, path);
    assert.ok(offset >= quarter && offset < bytes.length);
    const last = await sendPart(api, path, offset, bytes.subarray(offset));
    assert.equal(last.status, 204, last.text);
    const stored = await api.get(new URL(last.headers.get('x-file-url') ?? '').pathname);
    assert.equal(stored.text, bytes.toString());
    assert.deepEqual(await unfinishedBlobs(disk.testPath), []);
  });

  it('[FAULT-2] [LIFE-6] does not prevent stopping the server, nor killing and starting it', async (t) => {
    const { server, disk, room } = await furnished(t, withoutReserve);
    await disk.fill();
    await refuses(() => write(server, room, 'x'.repeat(100_000)));
    await server.end('SIGKILL');
    const next = await startProcess(t, disk.folder, withoutReserve, disk.executable);
    await assertNotReady(next);
    await assertReads(next, room);
    await refuses(() => write(next, room, 'x'.repeat(100_000)));
    const { signal } = await next.end('SIGTERM');
    assert.equal(signal, null, 'it exits without a signal');

    await disk.free();
    const last = await startProcess(t, disk.folder, withoutReserve, disk.executable);
    assert.equal((await last.api.get('/readyz')).status, 200);
    await assertReads(last, room);
    assert.equal((await write(last, room, 'there is room')).status, 200);
  });

  it('[LIFE-8] does not prevent starting a server without space to rewrite its database, which happens later', async (t) => {
    const { server, disk, room } = await furnished(t, withoutReserve);
    const [kept, deleted] = [uniqueText(900_000), uniqueText(10_000)];
    for (let n = 0; n < 5; n++) {
      const code = await server.api.room();
      assert.equal((await server.api.post(`/api/rooms/${code}/content`, { json: { content: kept } })).status, 200);
    }
    await server.end('SIGTERM');
    await likeEarlierVersion(disk, deleted);
    await disk.fill(2);
    const next = await startProcess(t, disk.folder, withoutReserve, disk.executable);
    await assertReads(next, room);
    await next.end('SIGTERM');
    await assertFound(disk.testPath, [deleted]);

    await disk.free();
    await assertReads(await startProcess(t, disk.folder, withoutReserve, disk.executable), room);
    await assertErased(disk.testPath, [deleted]);
  });
});

/** Leaves a text in free pages of the database, which is not marked as one without any. */
async function likeEarlierVersion({ folder, executable }: SmallDisk, deleted: string): Promise<void> {
  const script = `
    const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    db.exec('PRAGMA secure_delete = OFF; PRAGMA application_id = 0; CREATE TABLE former (content TEXT)');
    db.prepare('INSERT INTO former VALUES (?)').run(process.argv[2]);
    db.exec('DROP TABLE former');
    db.close();
  `;
  const node = executable.slice(0, -1) as unknown as Executable;
  assert.equal((await run(['--eval', script, join(folder, 'poproom.db'), deleted], {}, node)).code, 0);
}

/** A room with a text and a file, on a small disk. */
async function furnished(t: TestContext, settings: Record<string, string>) {
  const disk: SmallDisk = await smallDisk(t, 96);
  const server = await startProcess(t, disk.folder, settings, disk.executable);
  const room = trackRoom(await server.api.room());
  assert.equal((await write(server, room, 'before')).status, 200);
  assert.equal((await upload(server, room, 'before.txt')).status, 201);
  return { disk, server, room };
}

async function write(
  { api }: ServerProcess,
  { code, sent, acknowledged }: TrackedRoom,
  content: string,
): Promise<ApiResponse> {
  sent.add(content);
  const response = await api.post(`/api/rooms/${code}/content`, { json: { content } });
  if (response.status === 200) acknowledged.set(Number(response.headers.get('etag')?.slice(1, -1)), content);
  return response;
}

async function upload({ api }: ServerProcess, room: TrackedRoom, name: string, bytes = name): Promise<ApiResponse> {
  const file: TrackedFile = { hash: hashOf(Buffer.from(bytes)), state: 'sent' };
  room.files.set(name, file);
  const response = await api.upload(room.code, name, bytes);
  if (response.status === 201) file.state = 'there';
  return response;
}

/** The database log may have preallocated space. When that is used, writes are rejected. */
async function refuses(act: () => Promise<ApiResponse>): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    const response = await act();
    if (response.status >= 300) return void assertError(response, 507, 'STORAGE_FULL');
  }
  assert.fail('it was never refused');
}

/** The devices in the room cannot be notified, but the guessing client receives its error. */
async function assertWrongPinIsTold({ api }: ServerProcess, room: string): Promise<void> {
  assertError(await api.get(`/api/rooms/${room}`, { pin: '9999' }), 403, 'PIN_INCORRECT');
}

/** Where a load balancer asks, nothing else is wrong with it. */
async function assertNotReady({ api }: ServerProcess): Promise<void> {
  const { status, json } = await api.get('/readyz');
  // Files may have room where texts have none: they need less of a reserve.
  const { uploads: _, ...checks } = json.checks;
  assert.deepEqual([status, json.status], [503, 'not ready']);
  assert.deepEqual(checks, { store: 'ok', files: 'ok', disk: 'failing', sweep: 'ok', server: 'ok' });
}

async function assertReads({ api }: ServerProcess, room: TrackedRoom): Promise<void> {
  await assertAcknowledged(api, room);
  assert.equal((await api.get('/livez')).status, 200);
  assert.equal((await api.get('/api/health')).json.status, 'healthy');
}
