/** Removed files: hidden immediately, restored for a minute, erased afterwards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

async function upload({ api }: TestServer, room: string, name: string, text = name) {
  assert.equal((await api.upload(room, name, text)).status, 201);
  const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
  return files.at(-1) as { fileId: string; fileUrl: string };
}

const namesIn = async ({ api }: TestServer, room: string) =>
  (await api.get(`/api/rooms/${room}/files`)).json.files.map(({ fileName }: { fileName: string }) => fileName);

describe('a removed file', () => {
  it('[UNDO-1] is hidden, and restored at its place', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await upload(server, room, name);
    const [, { fileId, fileUrl }] = (await server.api.get(`/api/rooms/${room}/files`)).json.files;
    assert.equal((await server.api.delete(`/api/rooms/${room}/files/${fileId}`)).status, 200);
    assert.deepEqual(await namesIn(server, room), ['a.txt', 'c.txt']);
    assertError(await server.api.get(fileUrl), 404, 'FILE_NOT_FOUND');
    assertError(await server.api.delete(`/api/rooms/${room}/files/${fileId}`), 404, 'FILE_NOT_FOUND');
    assert.equal((await server.api.post(`/api/rooms/${room}/files/${fileId}/restore`)).status, 200);
    assert.deepEqual(await namesIn(server, room), ['a.txt', 'b.txt', 'c.txt']);
    assert.equal((await server.api.get(fileUrl)).text, 'b.txt');
    assertError(await server.api.post(`/api/rooms/${room}/files/${fileId}/restore`), 404, 'FILE_NOT_FOUND');
  });

  it('[UNDO-1] leaves and returns on the other devices', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const { fileId } = await upload(server, room, 'a.txt');
    const device = await joinRoom(t, server.url, room);
    await device.next('snapshot');
    await server.api.delete(`/api/rooms/${room}/files/${fileId}`);
    assert.equal((await device.next('file-removed')).fileId, fileId);
    await server.api.post(`/api/rooms/${room}/files/${fileId}/restore`);
    assert.equal((await device.next('file-added')).file.fileId, fileId);
  });

  it('[UNDO-2] is erased after a minute', async (t) => {
    const server = await startTestServer(t, {}, { sweepEveryMs: 20 });
    const room = await server.api.room();
    const { fileId } = await upload(server, room, 'a.txt', 'x'.repeat(1000));
    await server.api.delete(`/api/rooms/${room}/files/${fileId}`);
    const stored = async () => (await server.api.get('/api/limits')).json.storedBytes as number;
    server.clock.advance(59_000);
    assert.equal(await stored(), 1000);
    server.clock.advance(2000);
    await eventually('its bytes no longer count', async () => (await stored()) === 0);
    assertError(await server.api.post(`/api/rooms/${room}/files/${fileId}/restore`), 404, 'FILE_NOT_FOUND');
  });

  it('[UNDO-2] makes way for another file', async (t) => {
    const server = await startTestServer(t, { POPROOM_ROOM_MAX_FILES: '1', POPROOM_CLIENT_MAX_BYTES: '1500' });
    const room = await server.api.room();
    const { fileId } = await upload(server, room, 'a.txt', 'x'.repeat(1000));
    await server.api.delete(`/api/rooms/${room}/files/${fileId}`);
    await upload(server, room, 'b.txt', 'y'.repeat(1000));
    assert.deepEqual(await namesIn(server, room), ['b.txt']);
    assertError(await server.api.post(`/api/rooms/${room}/files/${fileId}/restore`), 404, 'FILE_NOT_FOUND');
  });
});
