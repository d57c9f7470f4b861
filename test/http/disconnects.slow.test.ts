/** Clients that disconnect before their response: everything that was opened for them is closed. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { openHandles } from '../support/process-stats.ts';
import { requestHead } from '../support/raw-socket.ts';
import { startRedis } from '../support/redis.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const noLimits = { POPROOM_FREE_LIMIT: '0', POPROOM_FILES: 'disk:' };
const slowRedis = (url: string) => ({
  POPROOM_STORE: url,
  POPROOM_SECRET: 'a secret for a test',
  POPROOM_FILES: 'disk:',
});

/** Sends a request, and resets the connection after a number of event loop iterations. */
async function askAndReset(server: TestServer, path: string, turns: number): Promise<void> {
  const socket = await ask(server, path);
  await wait(turns);
  socket.resetAndDestroy();
}

/** Sends a request, and resets the connection when the server has received it and asked its store. */
async function askAndResetDuringRead(server: TestServer, path: string): Promise<void> {
  const { promise: received, resolve } = Promise.withResolvers<void>();
  const listen = (message: unknown) => {
    if ((message as { request: IncomingMessage }).request.url === path) resolve();
  };
  subscribe('http.server.request.start', listen);
  const socket = await ask(server, path);
  await received;
  unsubscribe('http.server.request.start', listen);
  await wait(20);
  socket.resetAndDestroy();
}

async function wait(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await turn();
}

async function ask({ port }: TestServer, path: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(requestHead('GET', path));
  return socket;
}

async function uploaded({ api }: TestServer, room: string): Promise<string> {
  return new URL((await api.upload(room, 'a.bin', Buffer.alloc(300_000))).json.fileUrl).pathname;
}

/** The server is in this very process. */
async function openFiles({ folder }: TestServer): Promise<number> {
  return (await openHandles(process.pid)).filter((path) => path.startsWith(`${folder}/files/`)).length;
}

async function channels({ api }: TestServer): Promise<string | undefined> {
  return /^poproom_live_channels (\d+)$/m.exec((await api.get('/metrics')).text)?.[1];
}

const servedOf = (server: TestServer, route: string) =>
  server.logged().split(`"route":"${route}","status":200`).length - 1;

describe('a client that resets its connection', () => {
  it('[RUN-7] leaves no file open, whenever it disconnects', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploaded(server, await server.api.room());
    await Promise.all(Array.from({ length: 100 }, (_, i) => askAndReset(server, file, i % 40)));
    await eventually('all files are closed', async () => (await openFiles(server)) === 0);
    assert.doesNotMatch(server.logged(), /"level":"error"/, 'a disconnect is not logged as an error');
  });

  it('[RUN-7] leaves neither file nor channel open if it disconnected before a slow store responded', async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    const server = await startTestServer(t, slowRedis(redis.url));
    const room = await server.api.room();
    const [file, events] = [await uploaded(server, room), `/api/rooms/${room}/events`];
    redis.signal('SIGSTOP');
    await Promise.all([file, events].map((path) => askAndResetDuringRead(server, path)));
    redis.signal('SIGCONT');
    const routes = ['/files/:fileId/:name', '/api/rooms/:roomId/events'];
    await eventually('both were served', () => routes.every((route) => servedOf(server, route) === 1));
    await eventually('the file is closed', async () => (await openFiles(server)) === 0);
    await eventually('the channel is closed', async () => (await channels(server)) === '0');
  });
});
