/** Quotas of resumable uploads together with uploads in one request: exact, and freed whenever an upload ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { storedBlobs } from '../support/stored-blobs.ts';
import { createUpload, offsetOf, pathIn, sendPart, startUpload, tus } from '../support/tus.ts';

const KiB = 1024;
const megabyte = { POPROOM_FREE_LIMIT: '0', POPROOM_CLIENT_MAX_BYTES: '1MiB' };
const day = 86_400_000;

describe('the quota of a client', () => {
  it('[slow] [UP-8] [TUS-2] is exact when 50 uploads of both kinds start at the same time', async (t) => {
    const server = await startTestServer(t, megabyte);
    const { api } = server;
    const rooms = await Promise.all(Array.from({ length: 4 }, () => api.room()));
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const room = rooms[n % rooms.length] ?? '';
        return n % 2 === 0
          ? createUpload(api, room, 100 * KiB)
          : api.upload(room, `${n}.bin`, Buffer.alloc(100 * KiB, 'x'));
      }),
    );
    const accepted = responses.filter(({ status }) => status === 201);
    for (const response of responses) if (response.status !== 201) assertError(response, 413, 'QUOTA_EXCEEDED');
    assert.equal(accepted.length, 10);
    assert.equal(await storedBytes(server), 1000 * KiB);
    const room = rooms[0] ?? '';
    const last = await startUpload(api, room, 24 * KiB);
    assertError(await createUpload(api, room, 1), 413, 'QUOTA_EXCEEDED');
    assertError(await api.upload(room, 'more.bin', 'x'), 413, 'QUOTA_EXCEEDED');

    for (const created of accepted.filter(({ headers }) => headers.has('tus-resumable'))) {
      const { status } = await sendPart(api, pathIn(created), 0, Buffer.alloc(100 * KiB, 'x'));
      assert.equal(status, 204, 'an upload that was started needs no more space');
    }
    assert.equal((await sendPart(api, last, 0, Buffer.alloc(24 * KiB))).status, 204);
    assert.equal(await storedBytes(server), 1024 * KiB);
    assert.equal((await storedBlobs(server)).length, 11);
    for (const code of rooms) await api.delete(`/api/rooms/${code}`);
    assert.equal(await storedBytes(server), 0);
    await assertAllFree(server);
  });

  it('[UP-11] [TUS-6] [TUS-7] [UNDO-2] is freed by a cancelled, an abandoned, a removed and an expired upload', async (t) => {
    const server = await startTestServer(t, megabyte, { sweepEveryMs: 20 });
    const { api, clock } = server;
    const week = (await api.post('/api/rooms', { json: { expiresIn: 7 * 86_400 } })).json.roomId;
    const cancelled = await startUpload(api, week, 1024 * KiB);
    await sendPart(api, cancelled, 0, Buffer.alloc(600 * KiB));
    assert.equal((await api.delete(cancelled, { headers: tus })).status, 204);
    assert.equal(await storedBytes(server), 0);

    const abandoned = await startUpload(api, week, 1024 * KiB);
    await sendPart(api, abandoned, 0, Buffer.alloc(600 * KiB));
    clock.advance(day - 1);
    assert.equal(await offsetOf(api, abandoned), 600 * KiB);
    assertError(await createUpload(api, week, 1), 413, 'QUOTA_EXCEEDED');
    clock.advance(1);
    await assertAllFree(server);

    const removed = await startUpload(api, week, 1024 * KiB);
    await sendPart(api, removed, 0, Buffer.alloc(1024 * KiB));
    const id = removed.split('/').at(-1);
    assert.equal((await api.delete(`/api/rooms/${week}/files/${id}`)).status, 200);
    assert.equal(await storedBytes(server), 1024 * KiB, 'it can still be restored');
    const needed = await startUpload(api, week, 1024 * KiB);
    assertError(await api.post(`/api/rooms/${week}/files/${id}/restore`), 404, 'FILE_NOT_FOUND');
    await sendPart(api, needed, 0, Buffer.alloc(1024 * KiB));
    await api.delete(`/api/rooms/${week}/files/${needed.split('/').at(-1)}`);
    clock.advance(60_001);
    await assertAllFree(server);

    const short = await api.room({ expiresIn: 60 });
    await sendPart(api, await startUpload(api, short, 1024 * KiB), 0, Buffer.alloc(600 * KiB));
    clock.advance(60_000);
    await assertAllFree(server);
  });
});

async function storedBytes({ api }: TestServer): Promise<number> {
  return (await api.get('/api/limits')).json.storedBytes;
}

async function assertAllFree(server: TestServer): Promise<void> {
  await eventually('nothing counts', async () => (await storedBytes(server)) === 0);
  await eventually('nothing is stored', async () => (await storedBlobs(server)).length === 0);
}
