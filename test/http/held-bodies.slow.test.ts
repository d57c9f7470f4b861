/** The memory of incomplete bodies and unread responses. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

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
    const answered = () => sockets.filter((socket) => socket.unread() !== '');
    const refused = await eventually('some are refused', () => answered().length > 0 && answered());
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
    const server = await startTestServer(t, manyRequests);
    const { port, api } = server;
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: '\u0001'.repeat(MiB) } });
    const read = `GET /api/rooms/${room}/content HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const uncompressed = { headers: { 'accept-encoding': 'identity' } };
    const sockets = await Promise.all(
      Array.from({ length: 12 }, () => openRawSocket(t, port, { readsResponses: false })),
    );
    for (const socket of sockets) await socket.send(read);
    await eventually('two are held', async () => (await heldBytes(server, 'responses')) >= 12 * MiB);
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

describe('a budget that others use', () => {
  /** Each client sends most of some bodies of 1 MiB. */
  async function holdBodies(t: TestContext, server: TestServer, room: string, clients: number, perClient: number) {
    const begun = `{"content":"${'x'.repeat(0.9 * MiB)}`;
    const sockets = await Promise.all(Array.from({ length: clients * perClient }, () => openRawSocket(t, server.port)));
    for (const [n, socket] of sockets.entries()) {
      void socket.send(post(room, MiB, begun, `X-Forwarded-For: 192.0.2.${100 + (n % clients)}\r\n`));
    }
    const answered = () => sockets.filter((socket) => socket.unread() !== '').length;
    const isHeld = async () => (await heldBytes(server, 'requests')) >= (sockets.length - answered()) * 0.9 * MiB;
    await eventually('the server has read all of them', isHeld);
    return { sockets, answered, end: () => sockets.forEach((socket) => void socket.destroy()) };
  }

  it('[TRANSFER-1] leaves room for the bodies and responses of another client', async (t) => {
    const server = await startTestServer(t, manyRequests);
    const { api } = server;
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: '\u0001'.repeat(MiB) } });
    const held = await holdBodies(t, server, room, 3, 17);
    const read = { headers: { 'accept-encoding': 'identity' }, from: '192.0.2.1' };
    assert.equal((await api.get(`/api/rooms/${room}/content`, read)).status, 200);
    const content = '\u0001'.repeat(MiB / 2);
    const written = await api.post(`/api/rooms/${room}/content`, { json: { content }, from: '192.0.2.1' });
    assert.equal(written.status, 200);
    held.end();
  });

  it('[TRANSFER-2] ends the slowest bodies for a new one, and not before the first ten seconds', async (t) => {
    const server = await startTestServer(t, manyRequests);
    const { api, clock } = server;
    const room = await api.room();
    const { sockets, answered, end } = await holdBodies(t, server, room, 8, 5);
    const write = () => {
      const content = '\u0001'.repeat(MiB);
      return api.post(`/api/rooms/${room}/content`, { json: { content }, from: '192.0.2.1' });
    };
    clock.advance(9000);
    assert.equal((await write()).code, 'UNAVAILABLE');
    const before = answered();
    // Enough for 8 KiB per second over ten seconds, with which this one may go on.
    const held = await heldBytes(server, 'requests');
    await sockets[0]?.send('x'.repeat(0.095 * MiB));
    await eventually('it is received', async () => (await heldBytes(server, 'requests')) >= held + 0.09 * MiB);
    clock.advance(11_000);
    assert.equal((await write()).status, 200);
    await eventually('slow ones are ended', () => answered() > before);
    const ended = sockets.find((socket) => socket.unread() !== '');
    assert.equal((await ended?.response())?.code, 'UNAVAILABLE');
    assert.ok(answered() < sockets.length / 2, 'only as many as necessary');
    assert.equal(sockets[0]?.unread(), '');
    end();
  });
});

describe('downloads that nobody reads', () => {
  it('[TRANSFER-1] [TRANSFER-2] are limited per client, and the slowest ends for a new one', async (t) => {
    const server = await startTestServer(t, manyRequests);
    const { api, port, clock } = server;
    const room = await api.room();
    const uploaded = await api.post(`/api/rooms/${room}/upload?fileName=a`, {
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(8 * MiB),
    });
    const { pathname } = new URL(uploaded.json.fileUrl);
    const read = `GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 128 }, () => openRawSocket(t, port, { readsResponses: false })),
    );
    for (const socket of sockets) await socket.send(read);
    const statusFor = async (from = '127.0.0.1') => {
      const response = await fetch(server.url + pathname, { headers: { 'x-forwarded-for': from } });
      await response.body?.cancel();
      return response.status;
    };
    const heldNow = () => heldBytes(server, 'downloads');
    await eventually('all are held', async () => (await heldNow()) === 32 * MiB);
    assert.equal(await statusFor(), 503);
    assert.equal(await statusFor('192.0.2.1'), 200, 'another client is not affected');
    assert.equal((await api.call('HEAD', pathname)).status, 200);
    await eventually('the other download has ended', async () => (await heldNow()) === 32 * MiB);
    // The rate is measured from here, without the bytes that the system has taken.
    clock.advance(1000);
    assert.equal(await statusFor(), 503);
    clock.advance(11_000);
    assert.equal(await statusFor(), 200);
    for (const socket of sockets) socket.destroy();
    await eventually('nothing is held', async () => (await heldNow()) === 0);
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

/** The part of a budget that the server holds. */
async function heldBytes({ api }: TestServer, kind: string): Promise<number> {
  const { text } = await api.get('/metrics');
  return Number(new RegExp(`poproom_held_bytes\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1]);
}
