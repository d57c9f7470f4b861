/** Rooms over the API: creation, description, deletion. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedServer, startTestServer } from '../support/server.ts';

const day = 24 * 3600_000;

describe('rooms', () => {
  it('[API-1] are created without a body, with an empty one and with a PIN', async (t) => {
    const { api, clock } = await startTestServer(t);
    const plain = await api.post('/api/rooms');
    assert.equal(plain.status, 201);
    assert.deepEqual(Object.keys(plain.json).sort(), ['expiresAt', 'hasPin', 'limits', 'link', 'roomId']);
    assert.equal(plain.json.hasPin, false);
    assert.equal(plain.json.expiresAt, new Date(clock.now + day).toISOString());
    assert.equal((await api.post('/api/rooms', { json: {} })).json.hasPin, false);
    assert.equal((await api.post('/api/rooms', { json: { pin: '0427' } })).json.hasPin, true);
  });

  it('[API-2] [DEV-1] are described with their devices', async (t) => {
    const { api, clock } = await startTestServer(t);
    const code = await api.room();
    const at = (id?: string) => api.get(`/api/rooms/${code}`, id ? { headers: { 'x-device-id': id } } : {});
    assert.equal((await at()).json.deviceCount, 0);
    await at('phone');
    await at('phone');
    assert.equal((await at('laptop')).json.deviceCount, 2);
    clock.advance(59_999);
    assert.equal((await at('laptop')).json.deviceCount, 2);
    clock.advance(2);
    const { status, json } = await at();
    assert.equal(status, 200);
    const { expiresAt, limits } = json;
    const empty = { fileCount: 0, fileBytes: 0 };
    assert.deepEqual(json, { roomId: code, expiresAt, hasPin: false, deviceCount: 1, ...empty, limits });
  });

  it('[DEV-2] reject an invalid device id', async (t) => {
    const { api } = await sharedServer(t);
    const code = await api.room();
    for (const id of ['', 'a b', 'ä', 'x'.repeat(65), 'a/b']) {
      const headers = { 'x-device-id': encodeURIComponent(id) };
      const { code: error, json } = await api.get(`/api/rooms/${code}`, { headers });
      assert.equal(error, 'VALIDATION_FAILED', id);
      assert.equal(json.error.details.field, 'X-Device-Id');
    }
    for (const id of ['a', '-_-', 'x'.repeat(64)]) {
      assert.equal((await api.get(`/api/rooms/${code}`, { headers: { 'x-device-id': id } })).status, 200);
    }
  });

  it('[API-3] [LIFE-4] are deleted with their text and their files', async (t) => {
    const { api } = await sharedServer(t);
    const code = await api.room();
    const { fileUrl } = (await api.upload(code, 'a.txt', 'hello')).json;
    const deleted = await api.delete(`/api/rooms/${code}`);
    assert.equal(deleted.status, 200);
    assert.equal(deleted.json.success, true);
    assert.match(deleted.json.message, /deleted/);
    for (const path of ['', '/content', '/files']) {
      assert.equal((await api.get(`/api/rooms/${code}${path}`)).code, 'ROOM_NOT_FOUND');
    }
    assert.equal((await api.get(fileUrl)).code, 'FILE_NOT_FOUND');
    assert.equal((await api.delete(`/api/rooms/${code}`)).code, 'ROOM_NOT_FOUND');
  });
});
