/** The memory of incomplete bodies and unread responses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { startTestServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const manyRequests = { POPROOM_FREE_LIMIT: '100000' };

function post(room: string, length: number, begun: string, more = ''): string {
  return (
    `POST /api/rooms/${room}/content HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${length}\r\n${more}\r\n${begun}`
  );
}

describe('large bodies', () => {
  it('[SAFE-4] are rejected before they are read if the room does not exist', async (t) => {
    const { port, api } = await startTestServer(t, manyRequests);
    const socket = await openRawSocket(t, port);
    await socket.send(post('ZZZZZZ', 100_000, '{"content":"'));
    assert.equal((await socket.response()).code, 'ROOM_NOT_FOUND');
    const chunked = await openRawSocket(t, port);
    const head = post('ZZZZZZ', 0, '').replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    await chunked.send(`${head}11000\r\n${'x'.repeat(0x11000)}\r\n`);
    assert.equal((await chunked.response()).code, 'ROOM_NOT_FOUND');
    // A room whose PIN comes in the body is one that exists.
    const room = await api.room({ pin: '0427' });
    const content = 'x'.repeat(100_000);
    const written = await api.post(`/api/rooms/${room}/content`, { json: { content, pin: '0427' } });
    assert.equal(written.status, 200);
    const wrong = await api.post(`/api/rooms/${room}/content`, { json: { content }, pin: '1111' });
    assert.equal(wrong.code, 'PIN_INCORRECT');
  });

  it('[SAFE-5] that are never completed use a bounded share of the memory, and release it', async (t) => {
    const { port, api } = await startTestServer(t, manyRequests);
    const room = await api.room();
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openRawSocket(t, port)));
    const begun = 'x'.repeat(5 * MiB);
    for (const socket of sockets) void socket.send(post(room, 6 * MiB, `{"content":"${begun}`));
    const refused = await eventually('some are refused', () => sockets.filter((socket) => socket.unread() !== ''));
    for (const socket of refused) assert.equal((await socket.response()).code, 'UNAVAILABLE');
    // Others, and smaller bodies, are not affected.
    assert.equal(
      (await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' }, from: '192.0.2.1' })).status,
      200,
    );
    for (const socket of sockets) socket.destroy();
    await eventually('a large text is taken again', async () => {
      const { status } = await api.post(`/api/rooms/${room}/content`, { json: { content: 'y'.repeat(MiB) } });
      return status === 200;
    });
  });
});

describe('responses that nobody reads', () => {
  it('[SAFE-5] use a bounded share of the memory, and release it', async (t) => {
    const { port, api } = await startTestServer(t, manyRequests);
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: '\u0001'.repeat(MiB) } });
    const read = `GET /api/rooms/${room}/content HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const uncompressed = { headers: { 'accept-encoding': 'identity' } };
    const sockets = await Promise.all(
      Array.from({ length: 12 }, () => openRawSocket(t, port, { readsResponses: false })),
    );
    for (const socket of sockets) await socket.send(read);
    await eventually('another one is refused', async () => {
      return (await api.get(`/api/rooms/${room}/content`, uncompressed)).code === 'UNAVAILABLE';
    });
    assert.equal((await api.get(`/api/rooms/${room}/content`, { ...uncompressed, from: '192.0.2.1' })).status, 200);
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
    for (const socket of sockets) socket.destroy();
    await eventually('the text can be read again', async () => {
      return (await api.get(`/api/rooms/${room}/content`, uncompressed)).status === 200;
    });
  });
});

describe('JSON that no request can have', () => {
  it('[SAFE-3] is rejected quickly', async (t) => {
    const { api } = await startTestServer(t);
    const room = await api.room();
    for (const body of [
      `[${'{},'.repeat(1_000_000)}0]`,
      '['.repeat(3_000_000),
      `{"content":${'[9,'.repeat(100_000)}`,
    ]) {
      const headers = { 'content-type': 'application/json' };
      const response = await api.post(`/api/rooms/${room}/content`, { body, headers });
      assert.deepEqual([response.status, response.code], [400, 'INVALID_JSON']);
    }
  });
});
