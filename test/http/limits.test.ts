/** Limits by setting, as clients learn them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { startTestServer } from '../support/server.ts';

const settings = {
  POPROOM_CONTENT_MAX: '2000',
  POPROOM_FILE_MAX: '3000',
  POPROOM_ROOM_MAX_BYTES: '5000',
  POPROOM_ROOM_MAX_FILES: '2',
};
const limits = { textBytes: 2000, fileBytes: 3000, filesPerRoom: 2, fileBytesPerRoom: 5000 };

describe('the limits of a server', () => {
  it('[LIMIT-1] are in one response, with the bytes that the client has stored', async (t) => {
    const { api } = await startTestServer(t, settings);
    await api.upload(await api.room(), 'a.txt', 'x'.repeat(1000));
    const { status, json } = await api.get('/api/limits');
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(json, { ...limits, storedBytes: 1000, freeRequestsPerHour: 100 });
    assert.equal((await api.get('/api/limits', { from: '203.0.113.7' })).json.storedBytes, 0);
  });

  it('[LIMIT-2] come with a room, and so does what is used of them', async (t) => {
    const server = await startTestServer(t, settings);
    const created = await server.api.post('/api/rooms');
    assert.deepEqual(created.json.limits, limits);
    const room = created.json.roomId;
    await server.api.upload(room, 'a.txt', 'x'.repeat(1000));
    const { json } = await server.api.get(`/api/rooms/${room}`);
    assert.deepEqual([json.limits, json.fileCount, json.fileBytes], [limits, 1, 1000]);
    const device = await joinRoom(t, server.url, room);
    assert.deepEqual((await device.next('snapshot')).room.limits, limits);
  });

  it('[UP-2] [UP-3] are those of the settings', async (t) => {
    const { api } = await startTestServer(t, settings);
    const room = await api.room();
    assertError(await api.upload(room, 'a.txt', 'x'.repeat(3001)), 413, 'FILE_TOO_LARGE');
    assert.equal((await api.upload(room, 'a.txt', 'x'.repeat(3000))).status, 201);
    assertError(await api.upload(room, 'b.txt', 'x'.repeat(2001)), 413, 'ROOM_FULL');
    assert.equal((await api.upload(room, 'b.txt', 'x'.repeat(2000))).status, 201);
    assertError(await api.upload(room, 'c.txt', ''), 413, 'ROOM_FULL');
  });

  it('[UP-13] allow a folder in the query and in a form, cleaned', async (t) => {
    const { api } = await startTestServer(t);
    const room = await api.room();
    const bytes = { headers: { 'content-type': 'text/plain', 'x-file-name': 'a.txt' }, body: 'a' };
    await api.post(`/api/rooms/${room}/upload?folder=${encodeURIComponent('/photos/../2026/')}`, bytes);
    const form = new FormData();
    form.set('folder', 'notes\\old');
    form.set('file', new Blob(['b']), 'b.txt');
    await api.post(`/api/rooms/${room}/upload`, { body: form });
    await api.upload(room, 'c.txt', 'c');
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.deepEqual(
      files.map(({ folder }: { folder?: string }) => folder),
      ['photos/2026', 'notes/old', undefined],
    );
    const deep = await api.post(`/api/rooms/${room}/upload?folder=${'a/'.repeat(33)}`, bytes);
    assertError(deep, 400, 'VALIDATION_FAILED');
  });
});
