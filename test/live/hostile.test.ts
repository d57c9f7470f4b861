/** Misbehaving connections: each is ended, and none stops the server. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const handshake = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The server's end of the connections that it takes from now on. */
function acceptedAt(t: TestContext, port: number): Socket[] {
  const accepted: Socket[] = [];
  const listen = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === port) accepted.push(socket);
  };
  subscribe('net.server.socket', listen);
  t.after(() => unsubscribe('net.server.socket', listen));
  return accepted;
}

describe('misbehaving connections', () => {
  it('[RUN-7] a CONNECT that is reset does not stop the server', async (t) => {
    const { api, port } = await sharedServer(t);
    for (let i = 0; i < 20; i++) {
      const socket = await open(t, port);
      socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      await new Promise((resolve) => setTimeout(resolve, i % 5));
      socket.resetAndDestroy();
    }
    assert.equal((await api.get('/api/health')).status, 200);
  });

  it('[RUN-7] a rejected upgrade that stays half open is closed', async (t) => {
    const { api, port } = await sharedServer(t);
    const socket = await open(t, port);
    socket.write(handshake(`/api/rooms/${await api.room()}/live`, 'Origin: https://evil.example\r\n'));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 403 /);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const writing = setInterval(() => socket.write('x'), 100);
    t.after(() => clearInterval(writing));
    await closed;
  });

  it('[LIVE-12] a WebSocket that is reset while it is authorized keeps no channel', async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    const proxy = await startTcpProxy(t, () => redis.port);
    const { api, url, port } = await startTestServer(t, {
      POPROOM_STORE: proxy.url.replace('http', 'redis'),
      POPROOM_SECRET: 'a secret for a store of its own',
      POPROOM_MAX_CHANNELS_PER_CLIENT: '3',
    });
    const room = await api.room();
    const atServer = acceptedAt(t, port);
    proxy.pause();
    const sockets = await Promise.all(Array.from({ length: 3 }, () => open(t, port)));
    for (const socket of sockets) socket.write(handshake(`/api/rooms/${room}/live`));
    await eventually(
      'they wait for the counters',
      () => atServer.length === 3 && atServer.every(({ bytesRead }) => bytesRead > 0),
    );
    for (const socket of sockets) socket.resetAndDestroy();
    await eventually('the server has seen them go', () => atServer.every(({ destroyed }) => destroyed));
    proxy.resume();
    // A store that did not respond for too long refuses devices for another moment.
    const join = async () => (await joinRoom(t, url, room)).next('snapshot');
    await eventually('there is a place for another', () => join().catch(() => undefined));
  });

  it('[LIVE-1] an invalid handshake returns the common error format and the rate limit headers', async (t) => {
    const { api, port } = await startTestServer(t);
    const socket = await open(t, port);
    socket.write(handshake(`/api/rooms/${await api.room()}/live`).replace('Version: 13', 'Version: 5'));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 426 /);
    assert.match(String(answer), /RateLimit: "free";r=98/);
    assert.match(String(answer), /"code":"UPGRADE_REQUIRED"/);
  });

  it('[RUN-4] [LIVE-14] a WebSocket that arrives during the stop does not delay it', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const socket = await open(t, server.port);
    const [half, rest] = [
      handshake(`/api/rooms/${room}/live`).slice(0, 30),
      handshake(`/api/rooms/${room}/live`).slice(30),
    ];
    socket.write(half);
    await server.api.get('/livez');
    const startedAt = performance.now();
    const stopped = server.stop();
    await eventually('nobody else is let in', () =>
      fetch(`${server.url}/livez`).then(
        () => false,
        () => true,
      ),
    );
    socket.write(rest);
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 503 /);
    await stopped;
    assert.ok(performance.now() - startedAt < 10_000);
  });

  it('[LIVE-4] a device that reconnects receives a write that is not yet acknowledged', async (t) => {
    const server = await startTestServer(t);
    const { api, url } = server;
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'one' } });
    await api.get(`/api/rooms/${room}/content`);
    // As the writer's thread does, or another node, before the event loop hears of it.
    await (await inspectStore(server)).writeSecondText(room, 'two');
    const device = await joinRoom(t, url, room, { seq: 1 });
    assert.equal((await device.next('snapshot')).content.content, 'two');
  });

  it('[LIVE-7] HEAD of a stream is authorized like GET', async (t) => {
    const { api } = await sharedServer(t);
    assert.equal((await api.call('HEAD', '/api/rooms/ZZZZZZ/events')).status, 404);
    assert.equal((await api.call('HEAD', `/api/rooms/${await api.room()}/events`)).status, 200);
  });
});
