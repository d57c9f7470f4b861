/** Limits of what a channel may send and receive. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { connect, type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const rawSocketOf = (socket: WebSocket) => (socket as unknown as { _socket: Socket })._socket;

async function openRoom(t: TestContext) {
  const server = await sharedServer(t);
  return { ...server, room: await server.api.room() };
}

describe('a message from the client', () => {
  it('[LIVE-24] has at most 4 KiB before it has joined', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await connect(t, url, room);
    device.send({ type: 'join', deviceName: 'x', pin: '0'.repeat(5000) });
    assert.equal((await device.closed).code, 1009);
    // Nor is a longer one waited for.
    const waiting = await connect(t, url, room);
    const begun = Buffer.alloc(14 + 200_000);
    begun.set([0x81, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0]);
    rawSocketOf(waiting.socket).write(begun);
    assert.equal((await waiting.closed).code, 1009);
  });

  it('[LIVE-24] may be invalid four times in a row', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    for (const mistake of ['{', '[]', '{"type":"unknown"}', '{"type":"content"}']) device.send(mistake);
    for (let n = 0; n < 4; n++) await device.next('error');
    assert.equal(device.socket.readyState, device.socket.OPEN);
    device.send('null');
    assert.equal((await device.closed).code, 1008);
    assert.equal(device.received.filter(({ type }) => type === 'error').length, 5);
  });

  it('[SAFE-3] has a bounded number of JSON values', async (t) => {
    const { url, room } = await openRoom(t);
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    for (const text of [`[${'{},'.repeat(500_000)}0]`, '['.repeat(2_000_000)]) {
      device.send(text);
      assert.equal((await device.next('error')).error.code, 'INVALID_JSON');
    }
  });

  it('[LIVE-25] counts if it is a ping or a pong', async (t) => {
    const { url, room } = await openRoom(t);
    for (const kind of ['ping', 'pong'] as const) {
      const device = await joinRoom(t, url, room);
      await device.next('snapshot');
      for (let n = 0; n < 200; n++) device.socket[kind]();
      assert.equal((await device.closed).code, 4429, kind);
    }
  });

  it('[SAFE-7] of more than 64 KiB is received only twice at a time from a client; the others wait', async (t) => {
    const { url, room, api } = await openRoom(t);
    const [first, second] = [await joinRoom(t, url, room), await joinRoom(t, url, room)];
    const others = await Promise.all(Array.from({ length: 4 }, () => joinRoom(t, url, room)));
    for (const device of [first, second, ...others]) await device.next('snapshot');
    const frame = maskedFrame(JSON.stringify({ type: 'content', content: 'x'.repeat(MiB), baseVersion: 0 }));
    for (const device of [first, second]) {
      rawSocketOf(device.socket).write(frame.subarray(0, -1));
    }
    await pause(200);
    for (const { socket } of others) rawSocketOf(socket).write(frame);
    await pause(500);
    for (const { received } of others)
      assert.ok(!received.some(({ type }) => type === 'written' || type === 'conflict'));
    assert.equal((await api.get(`/api/rooms/${room}/content`)).status, 200);
    rawSocketOf(first.socket).write(frame.subarray(-1));
    await first.next('written');
    for (const device of others) await device.next('conflict');
    rawSocketOf(second.socket).write(frame.subarray(-1));
    await second.next('conflict');
  });

  it('[SAFE-7] of more than 64 KiB waits in fragments with pings between them, too', async (t) => {
    const { url, room } = await openRoom(t);
    const senders = await Promise.all([1, 2, 3].map(() => joinRoom(t, url, room)));
    for (const device of senders) await device.next('snapshot');
    const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
    const json = JSON.stringify({ type: 'content', content: 'x'.repeat(200_000), baseVersion: 0 });
    const pieces = json.match(/.{1,40000}/g) ?? [];
    const frames = pieces.map((piece, n) => maskedFrame(piece, n === 0 ? 0x01 : n === pieces.length - 1 ? 0x80 : 0x00));
    const [first, second, third] = senders;
    async function write(device: Device | undefined, from: number, to?: number) {
      for (const frame of frames.slice(from, to)) {
        if (device) rawSocketOf(device.socket).write(Buffer.concat([ping, frame]));
        await pause(20);
      }
    }
    for (const device of [first, second]) await write(device, 0, -1);
    await write(third, 0);
    await pause(200);
    assert.ok(!third?.received.some(({ type }) => type === 'written'), 'a third message was received');
    await write(first, -1);
    await first?.next('written');
    await third?.next('conflict');
  });
});

/** A text message from a client, with a mask of zeros. */
function maskedFrame(text: string, firstByte = 0x81): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(14);
  head.set([firstByte, 0xff]);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

describe('a message to the client', () => {
  it('[LIVE-2] [LIVE-4] has a long text unchanged, whatever is in it', async (t) => {
    const { url, room, api } = await openRoom(t);
    const content = `"content":"" \\ "${'\u0001é𝄞\u2028"'.repeat(5000)}`;
    const deviceName = '"content":""';
    const [watcher, writer] = [await joinRoom(t, url, room, { deviceName }), await joinRoom(t, url, room)];
    await Promise.all([watcher.next('snapshot'), writer.next('snapshot')]);
    writer.send({ type: 'content', content, baseVersion: 0 });
    assert.equal((await watcher.next('content')).content, content);
    const late = await joinRoom(t, url, room);
    const snapshot = await late.next('snapshot');
    assert.equal(snapshot.content.content, content);
    assert.ok(snapshot.devices.some((device) => device.deviceName === deviceName));
    const events = await fetch(`${url}/api/rooms/${room}/events`);
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('\n\n')) text += (await reader?.read())?.value;
    await reader?.cancel();
    const data = text.split('\n').find((line) => line.startsWith('data: ')) ?? '';
    assert.equal(JSON.parse(data.slice('data: '.length)).content.content, content);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, content);
  });

  it('[SAFE-5] is buffered only within bounds, and others can join when it was read', async (t) => {
    const { url, room } = await openRoom(t);
    const writer = await joinRoom(t, url, room, { edits: true });
    await writer.next('snapshot');
    writer.send({ type: 'content', content: '\u0001'.repeat(MiB - 100), baseVersion: 0 });
    await writer.next('written');
    const unread: Device[] = [];
    // Each of another version, so that they have nothing in common.
    for (let version = 1; version <= 3; version++) {
      const device = await connect(t, url, room);
      rawSocketOf(device.socket).pause();
      device.send({ type: 'join' });
      unread.push(device);
      // The other devices are notified after its snapshot was sent.
      await writer.next('devices', ({ devices }) => devices.length === version + 1);
      writer.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'y' }], baseVersion: version });
      await writer.next('written');
    }
    const refused = await joinRoom(t, url, room);
    assert.equal((await refused.next('error')).error.code, 'UNAVAILABLE');
    assert.equal((await refused.closed).code, 1012);
    for (const { socket } of unread) socket.terminate();
    await eventually('a device can join', async () => {
      const device = await joinRoom(t, url, room);
      return Promise.race([device.next('snapshot').then(() => true), device.closed.then(() => false)]);
    });
  });

  it('[LIVE-5] does not repeat a long text that the client has received', async (t) => {
    const { url, room, api } = await openRoom(t);
    const content = 'x'.repeat(100_000);
    await api.post(`/api/rooms/${room}/content`, { json: { content } });
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    device.send({ type: 'content', content: 'y', baseVersion: 0, ref: 'a' });
    const conflict = await device.next('conflict');
    assert.deepEqual([conflict.version, conflict.ref, conflict.content], [1, 'a', undefined]);
  });

  it('[LIVE-26] is limited to 4 MiB in one burst, and then to the latest state once per second', async (t) => {
    const { url, room } = await openRoom(t);
    const reader = await joinRoom(t, url, room);
    const writer = await joinRoom(t, url, room, { edits: true });
    await Promise.all([reader.next('snapshot'), writer.next('snapshot')]);
    const startedAt = performance.now();
    writer.send({ type: 'content', content: 'x'.repeat(MiB - 1000), baseVersion: 0 });
    await writer.next('written');
    const edits = 15;
    for (let n = 1; n <= edits; n++) {
      writer.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'y' }], baseVersion: n });
      await writer.next('written');
      await pause(5);
    }
    await reader.next('content', ({ version }) => version === edits + 1);
    const texts = reader.received.filter(({ type }) => type === 'content').length;
    // The last one of the burst may exceed it, and one may be sent at the end of the time.
    const allowed = 4 + (performance.now() - startedAt) / 1000 + 2;
    assert.ok(texts <= allowed, `${texts} texts of 1 MiB were sent, ${allowed} are allowed`);
  });
});
