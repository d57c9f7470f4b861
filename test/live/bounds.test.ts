/** How much a channel may send, and is sent. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { connect, joinRoom } from '../support/device.ts';
import { startTestServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const rawSocketOf = (socket: WebSocket) => (socket as unknown as { _socket: Socket })._socket;

async function openRoom(t: TestContext) {
  const server = await startTestServer(t);
  return { ...server, room: await server.api.room() };
}

describe('what a channel may send', () => {
  it('[LIVE-24] is 4 KiB before it has joined', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await connect(t, url, room);
    device.say({ type: 'join', deviceName: 'x', pin: '0'.repeat(5000) });
    assert.equal((await device.closed).code, 1009);
    // Nor is a longer one waited for.
    const waiting = await connect(t, url, room);
    const begun = Buffer.alloc(14 + 200_000);
    begun.set([0x81, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0]);
    rawSocketOf(waiting.socket).write(begun);
    assert.equal((await waiting.closed).code, 1012);
  });

  it('[LIVE-24] has at most four mistakes', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    for (const mistake of ['{', '[]', '{"type":"unknown"}', '{"type":"content"}']) device.say(mistake);
    for (let n = 0; n < 4; n++) await device.next('error');
    assert.equal(device.socket.readyState, device.socket.OPEN);
    device.say('null');
    assert.equal((await device.closed).code, 1008);
    assert.equal(device.told.filter(({ type }) => type === 'error').length, 5);
  });

  it('[SAFE-3] is JSON within bounds', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    for (const text of [`[${'{},'.repeat(500_000)}0]`, '['.repeat(2_000_000)]) {
      device.say(text);
      assert.equal((await device.next('error')).error.code, 'INVALID_JSON');
    }
  });

  it('[LIVE-25] counts pings and pongs', async (t) => {
    const { url, room } = await openRoom(t);
    for (const kind of ['ping', 'pong'] as const) {
      const device = await joinRoom(t, url, room);
      await device.next('snapshot');
      for (let n = 0; n < 200; n++) device.socket[kind]();
      assert.equal((await device.closed).code, 4429, kind);
    }
  });

  it('[SAFE-5] is held within the memory budget while it is not complete', async (t) => {
    const { url, room, api } = await openRoom(t);
    const devices = await Promise.all(Array.from({ length: 6 }, () => joinRoom(t, url, room)));
    for (const device of devices) await device.next('snapshot');
    const begun = Buffer.alloc(14 + 6 * MiB - 100);
    begun.set([0x81, 0xff, 0, 0, 0, 0, 0, 0x60, 0, 0]);
    for (const { socket } of devices) rawSocketOf(socket).write(begun);
    const { code } = await Promise.race(devices.map(({ closed }) => closed));
    assert.equal(code, 1012);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).status, 200);
  });
});

describe('what a channel is sent', () => {
  it('[LIVE-5] does not repeat a long text that it has received', async (t) => {
    const { url, room, api } = await openRoom(t);
    const content = 'x'.repeat(100_000);
    await api.post(`/api/rooms/${room}/content`, { json: { content } });
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    device.say({ type: 'content', content: 'y', baseVersion: 0, ref: 'a' });
    const conflict = await device.next('conflict');
    assert.deepEqual([conflict.version, conflict.ref, conflict.content], [1, 'a', undefined]);
  });

  it('[LIVE-26] is 4 MiB in one go, and then the newest state once a second', async (t) => {
    const { url, room } = await openRoom(t);
    const reader = await joinRoom(t, url, room);
    const writer = await joinRoom(t, url, room, { edits: true });
    await writer.next('snapshot');
    writer.say({ type: 'content', content: 'x'.repeat(MiB - 1000), baseVersion: 0 });
    await writer.next('written');
    const edits = 15;
    for (let n = 1; n <= edits; n++) {
      writer.say({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'y' }], baseVersion: n });
      await writer.next('written');
      await pause(5);
    }
    await reader.next('content', ({ version }) => version === edits + 1);
    const texts = reader.told.filter(({ type }) => type === 'content').length;
    assert.ok(texts < edits, `${texts} texts of 1 MiB were sent`);
  });
});
