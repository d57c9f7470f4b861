/** `GET /api/rooms/:roomId?details=true`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestServer } from '../support/server.ts';

describe('the details of a room', () => {
  it('[CLI-63] has the size of the text and the files in one request, with the same access rules', async (t) => {
    const { api } = await startTestServer(t);
    const pin = '4821';
    const room = await api.room({ pin });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'caf\u00e9' }, pin });
    await api.upload(room, 'a.txt', 'hello', { pin });
    const path = `/api/rooms/${room}`;
    const [plain, detailed, files] = await Promise.all([
      api.get(path, { pin }),
      api.get(`${path}?details=true`, { pin }),
      api.get(`${path}/files`, { pin }),
    ]);
    const { text, files: listed, ...rest } = detailed.json;
    assert.deepEqual(rest, plain.json);
    assert.deepEqual([text.version, text.bytes, Number.isNaN(Date.parse(text.timestamp))], [1, 5, false]);
    assert.deepEqual(listed, files.json.files);
    assert.equal((await api.get(`${path}?details=true`)).code, 'PIN_REQUIRED');
    assert.equal((await api.get(`${path}?details=maybe`, { pin })).code, 'VALIDATION_FAILED');
  });
});
