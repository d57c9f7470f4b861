/** The log lines that rejected clients cause, and how they identify clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { sendPipelined } from '../support/pipelined.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { requestHead } from '../support/raw-socket.ts';

const behindProxy = { POPROOM_TRUSTED_PROXIES: '127.0.0.1' };
/** Long enough for several of the lines that the server writes each second. */
const floodMs = 2500;
const pauseMs = 100;

/** A line of the log, as far as these tests look into it. */
interface Line {
  msg: string;
  client?: string;
  code?: string;
  count?: number;
  status?: number;
  requestId?: string;
  reason?: string;
  err?: object;
}

describe('the log of many events', () => {
  it('[RUN-10] of rejected requests from one client has a few lines, which count all of them', async (t) => {
    const server = await startProcess(t, await dataFolder(t), { POPROOM_FREE_LIMIT: '1' });
    await server.api.get('/api/rooms/7KQ2MX');
    const since = performance.now();
    const refused = await flood(() => sendPipelined(server.port, requestHead('GET', '/api/rooms/7KQ2MX/files'), 500));
    const lines = await refusalsAtEnd(server, 'RATE_LIMITED');
    const kilobytes = lines.map((line) => JSON.stringify(line)).join('\n').length / 1000;
    t.diagnostic(`${refused['429']} refusals are ${lines.length} lines of ${kilobytes} kB in all`);
    assertFew(lines, since);
    assert.equal(total(lines), refused['429']);
    assert.equal(new Set(lines.map(({ client }) => client)).size, 1);
    assert.ok(lines[0]?.requestId, 'the first can be found by its id');
  });

  it('[RUN-10] of rejected requests from many clients is bounded, too', async (t) => {
    const server = await startProcess(t, await dataFolder(t), { ...behindProxy, POPROOM_REQUIRE_API_KEY: 'true' });
    const from = (index: number) =>
      requestHead('GET', '/api/rooms/7KQ2MX', { 'X-Forwarded-For': `203.0.${index >> 8}.${index & 255}` });
    const clients = 3000;
    const since = performance.now();
    assert.deepEqual(await sendPipelined(server.port, from, clients), { 401: clients });
    const lines = await refusalsAtEnd(server, undefined);
    assertFew(lines, since, 101);
    assert.equal(total(lines), clients);
    assert.ok(lines.some(({ client, count }) => client === undefined && count));
  });

  it('[RUN-10] of rejected live channels, failed requests and rejected upgrades has a few lines of each', async (t) => {
    const settings = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', POPROOM_MIN_FREE_DISK: '900000GiB' };
    const server = await startProcess(t, await dataFolder(t), settings);
    const [open, locked] = [await server.api.room(), await server.api.room({ pin: '0427' })];
    const [channels, uploads, upgrades] = [100, 50, 100];
    const since = performance.now();
    for (let opened = 0; opened < channels; opened += 10) {
      await Promise.all(Array.from({ length: 10 }, () => refusedJoin(server, locked)));
    }
    for (let sent = 0; sent < uploads; sent += 1) {
      assert.equal((await server.api.upload(open, 'a.txt', 'bytes')).status, 507);
    }
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 12 };
    const head = requestHead('GET', `/api/rooms/${open}/live`, upgrade);
    for (let sent = 0; sent < upgrades; sent += 1) await sendPipelined(server.port, head, 1);

    const lines = await refusalsAtEnd(server, undefined);
    const linesOfCode = (code: string) => lines.filter((line) => line.code === code);
    for (const [code, count] of Object.entries({
      PIN_REQUIRED: channels,
      STORAGE_FULL: uploads,
      UPGRADE_REQUIRED: upgrades,
    })) {
      assert.equal(total(linesOfCode(code)), count, code);
      assertFew(linesOfCode(code), since);
    }
    assert.ok(linesOfCode('PIN_REQUIRED').every(({ client }) => client && client === lines[0]?.client));
    const [failure] = linesOfCode('STORAGE_FULL');
    assert.ok(failure?.msg === 'request failed' && failure.reason, 'the first line has the cause');
  });

  it('[RUN-10] [RUN-11] of messages names the client whose channel is closed', async (t) => {
    const server = await startProcess(t, await dataFolder(t));
    const socket = new WebSocket(channelUrl(server, await server.api.room()));
    await once(socket, 'open');
    socket.send('{"type":"join"}');
    for (let sent = 0; sent < 100; sent += 1) socket.ping();
    const [code] = await once(socket, 'close');
    assert.equal(code, 4429);
    const [line] = await refusalsAtEnd(server, 'TOO_FAST');
    assert.equal(line?.msg, 'live channel refused');
  });

  it('[RUN-10] is complete at level debug', async (t) => {
    const settings = { POPROOM_FREE_LIMIT: '1', POPROOM_LOG_LEVEL: 'debug' };
    const server = await startProcess(t, await dataFolder(t), settings);
    const statuses = await sendPipelined(server.port, requestHead('GET', '/api/rooms/7KQ2MX'), 200);
    const lines = await refusalsAtEnd(server, 'RATE_LIMITED');
    assert.equal(lines.filter(({ requestId }) => requestId).length, statuses['429']);
  });
});

describe('a line about a client', () => {
  it('[RUN-11] names it the same after a restart and on another node, and never by its address', async (t) => {
    const settings = {
      ...behindProxy,
      POPROOM_SECRET: 'a secret that all of the nodes share',
      POPROOM_LOG_LEVEL: 'debug',
    };
    const folder = await dataFolder(t);
    const logs: Line[][] = [];
    for (const place of [folder, folder, await dataFolder(t)]) {
      const server = await startProcess(t, place, settings);
      for (const from of ['203.0.113.7', '2001:db8:1:2::3']) {
        const room = await server.api.room({ pin: '0427' }, { from });
        await server.api.get(`/api/rooms/${room}`, { from });
        await server.api.upload(room, 'a.txt', 'bytes', { from, pin: '0427' });
        await joinAndLeave(server, room, from);
      }
      await server.end('SIGTERM');
      assert.doesNotMatch(server.output(), /203\.0\.113|2001:db8/i);
      logs.push(linesOf(server));
    }
    const names = logs.map((lines) => [...new Set(lines.map(({ client }) => client).filter(Boolean))]);
    assert.ok(names[0]?.every((name) => /^[0-9a-f]{12}$/.test(name ?? '')));
    for (const of of names) assert.deepEqual([...of].sort(), [...(names[0] ?? [])].sort());
    for (const msg of ['request', 'live channel joined', 'live channel closed']) {
      const about = logs.flat().filter((line) => line.msg === msg);
      assert.ok(about.length >= 6 && about.every(({ client }) => client), msg);
    }
  });

  it('[RUN-11] has another hash with another secret', async (t) => {
    const names = await Promise.all(
      [1, 2].map(async () => {
        const server = await startProcess(t, await dataFolder(t));
        await server.api.get('/api/rooms/7KQ2MX');
        await server.end('SIGTERM');
        return linesOf(server).find(({ client }) => client)?.client;
      }),
    );
    assert.ok(names[0] && names[0] !== names[1]);
  });
});

/** Each second, a code of a client has at most the line of its first refusal and that of the others. */
function assertFew(lines: readonly Line[], since: number, kinds = 1): void {
  const seconds = Math.ceil((performance.now() - since) / 1000) + 1;
  assert.ok(lines.length <= 2 * kinds * seconds, `${lines.length} lines in ${seconds} seconds`);
}

/** Again and again, for some seconds; how often each status came in all. */
async function flood(attack: () => Promise<Record<string, number>>): Promise<Record<string, number>> {
  const all: Record<string, number> = {};
  const until = performance.now() + floodMs;
  while (performance.now() < until) {
    for (const [status, count] of Object.entries(await attack())) all[status] = (all[status] ?? 0) + count;
    await pause(pauseMs);
  }
  return all;
}

async function refusalsAtEnd(server: ServerProcess, code: string | undefined): Promise<Line[]> {
  assert.deepEqual(await server.end('SIGTERM'), { code: 0, signal: null });
  const isRefusal = (line: Line) => line.count !== undefined || (line.code !== undefined && line.client !== undefined);
  return linesOf(server).filter((line) => isRefusal(line) && (code === undefined || line.code === code));
}

const linesOf = (server: ServerProcess): Line[] =>
  server
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const total = (lines: readonly Line[]) => lines.reduce((sum, { count = 1 }) => sum + count, 0);

const channelUrl = ({ port }: ServerProcess, room: string) => `ws://127.0.0.1:${port}/api/rooms/${room}/live`;

async function refusedJoin(server: ServerProcess, room: string): Promise<void> {
  const socket = new WebSocket(channelUrl(server, room));
  await once(socket, 'open');
  socket.send('{"type":"join"}');
  const [code] = await once(socket, 'close');
  assert.equal(code, 4401);
}

async function joinAndLeave(server: ServerProcess, room: string, from: string): Promise<void> {
  const socket = new WebSocket(channelUrl(server, room), { headers: { 'X-Forwarded-For': from } });
  await once(socket, 'open');
  socket.send('{"type":"join","pin":"0427"}');
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
}
