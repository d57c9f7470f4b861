/** A failing disk: data that it did not store is never acknowledged, and the service recovers with it. */
import assert from 'node:assert/strict';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { assertAcknowledged, hashOf, type TrackedRoom, trackRoom } from '../support/acknowledged.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { embeddedSettings } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer } from '../support/server.ts';
import { assertIntact } from './database-integrity.ts';
import { type InjectedFault, injectFault, onFailingDisk, repairDisk } from './failing-disk.ts';

const env = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const concurrency = 20;

describe('a disk that fails', () => {
  for (const call of ['pwrite64', 'fsync'] as const) {
    it(`[FAULT-3] [TEXT-6] to ${call} the log of the database acknowledges no write, and answers all reads`, async (t) => {
      const { folder, room } = await folderWithRoom(t);
      const failure: InjectedFault = { call, error: 'EIO', at: [join(folder, 'poproom.db-wal')] };
      const server = await startProcess(t, folder, env, onFailingDisk(failure));
      const rejected = await Promise.all(
        Array.from({ length: concurrency }, (_, n) => write(server, room, `late ${n}`)),
      );
      rejected.push(await server.api.post('/api/rooms'), await server.api.delete(`/api/rooms/${room.code}`));
      for (const response of rejected) assertUnavailable(response);
      await assertAcknowledged(server.api, room);

      await repairDisk(server.pid);
      assert.equal((await write(server, room, 'after repair')).status, 200);
      await server.end('SIGKILL');
      await assertAcknowledged((await startProcess(t, folder, env)).api, room);
      assertIntact(folder);
    });
  }

  it('[FAULT-3] to sync the database file keeps the content of its log', async (t) => {
    const { folder, room } = await folderWithRoom(t);
    const failure: InjectedFault = { call: 'fsync', error: 'EIO', at: [join(folder, 'poproom.db')] };
    const note = join(folder, 'injected');
    const server = await startProcess(t, folder, env, onFailingDisk(failure, note));
    // More than a thousand pages, so SQLite would checkpoint its log into the file.
    for (let n = 0; n < 5; n++) await write(server, room, `${n} `.repeat(500_000));
    await server.end('SIGKILL');
    assert.match(await readFile(note, 'utf8'), /INJECTED/);
    await assertAcknowledged((await startProcess(t, folder, env)).api, room);
    assertIntact(folder);
  });

  // An upload is written with `pwrite64` if one chunk is waiting, and with `pwritev` if there are several.
  for (const call of ['pwrite64', 'pwritev'] as const) {
    it(`[FAULT-3] [UP-6] to ${call} a file rejects it in the middle, and keeps nothing of it`, async (t) => {
      const { folder, room } = await folderWithRoom(t);
      const server = await startProcess(t, folder, env);
      const socket = await openRawSocket(t, server.port);
      const [start, rest] = ['start', 'x'.repeat(4 * 1024 * 1024)];
      const length = { 'Content-Type': 'text/plain', 'Content-Length': start.length + rest.length };
      await socket.send(requestHead('POST', `/api/rooms/${room.code}/upload?fileName=late.txt`, length) + start);
      const unfinished = await eventually('the upload is in progress', async () => (await unfinishedBlobs(folder))[0]);
      const [at, note] = [[join(folder, 'files', 'unfinished', unfinished)], join(folder, 'injected')];
      await injectFault(server.pid, { call, error: 'EIO', at }, note);
      await socket.send(rest);
      assertError(fromRawResponse(await socket.response()), 500, 'INTERNAL');
      assert.match(await readFile(note, 'utf8'), /unfinished.*INJECTED/);
      await assertOnlyFirstFile(server, folder, room);
    });
  }

  it('[FAULT-3] [UP-7] to sync a file rejects it, and keeps nothing of it', async (t) => {
    const { folder, room } = await folderWithRoom(t);
    const note = join(folder, 'injected');
    const server = await startProcess(t, folder, env, onFailingDisk({ call: 'fsync', error: 'EIO' }, note));
    assertError(await server.api.upload(room.code, 'late.txt', 'late'), 500, 'INTERNAL');
    assert.match(await readFile(note, 'utf8'), /unfinished.*INJECTED/, 'the sync of the file failed');
    await assertOnlyFirstFile(server, folder, room);
  });

  it('[FAULT-3] [UP-7] to sync the folder of a file rejects it, and keeps nothing of it', async (t) => {
    const { folder, room } = await folderWithRoom(t);
    const shards = Array.from({ length: 256 }, (_, n) => join(folder, 'files', n.toString(16).padStart(2, '0')));
    for (const shard of shards) await mkdir(shard, { recursive: true });
    const server = await startProcess(t, folder, env, onFailingDisk({ call: 'fsync', error: 'EIO', at: shards }));
    assertError(await server.api.upload(room.code, 'late.txt', 'late'), 500, 'INTERNAL');
    await assertOnlyFirstFile(server, folder, room);
  });

  it('[FAULT-3] [UP-4] with no space left reports this even if the error arrives late', async (t) => {
    const { folder, room } = await folderWithRoom(t);
    const server = await startProcess(t, folder, env, onFailingDisk({ call: 'fsync', error: 'ENOSPC' }));
    assertError(await server.api.upload(room.code, 'late.txt', 'late'), 507, 'STORAGE_FULL');
    await assertOnlyFirstFile(server, folder, room);
  });
});

/** A data folder with a room, a text and a file, created on a working disk. */
async function folderWithRoom(t: TestContext): Promise<{ folder: string; room: TrackedRoom }> {
  const server = await startTestServer(t, embeddedSettings);
  server.clock.now = Date.now();
  const room = trackRoom(await server.api.room());
  assert.equal((await write(server, room, 'before')).status, 200);
  assert.equal((await server.api.upload(room.code, 'before.txt', 'before')).status, 201);
  room.files.set('before.txt', { hash: hashOf(Buffer.from('before')), state: 'there' });
  await server.stop();
  const folder = await dataFolder(t);
  await cp(server.folder, folder, { recursive: true });
  return { folder, room };
}

async function write(
  { api }: Pick<ServerProcess, 'api'>,
  { code, sent, acknowledged }: TrackedRoom,
  content: string,
): Promise<ApiResponse> {
  sent.add(content);
  const response = await api.post(`/api/rooms/${code}/content`, { json: { content } });
  if (response.status === 200) acknowledged.set(Number(response.headers.get('etag')?.slice(1, -1)), content);
  return response;
}

function assertUnavailable(response: ApiResponse): void {
  assertError(response, 503, 'UNAVAILABLE');
  assert.ok(Number(response.headers.get('retry-after')) >= 1);
}

/** Nothing of the rejected file is stored, and it can be uploaded after the repair. */
async function assertOnlyFirstFile(server: ServerProcess, folder: string, room: TrackedRoom): Promise<void> {
  assert.equal((await storedBlobs(folder)).length, 1);
  await assertAcknowledged(server.api, room);
  await repairDisk(server.pid);
  assert.equal((await server.api.upload(room.code, 'late.txt', 'late')).status, 201);
  room.files.set('late.txt', { hash: hashOf(Buffer.from('late')), state: 'there' });
  await assertAcknowledged(server.api, room);
}
