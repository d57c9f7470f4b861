/** Writing over the channel, and its limits. */
import assert from 'node:assert/strict';
import { connect as connectSocket } from 'node:net';
import { describe, it } from 'node:test';
import { connect, type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { onMessageReceived } from '../support/record-traffic.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('writing over the channel', () => {
  it('[LIVE-30] waits for others in a crowded room, if they write at the same time', async (t) => {
    const { api, url } = await startTestServer(t);
    const room = await api.room();
    const devices = await Promise.all(Array.from({ length: 20 }, () => joinRoom(t, url, room, { edits: true })));
    await Promise.all(devices.map((device) => device.next('snapshot')));
    const [one, two] = devices as [Device, Device];
    const write = async (device: Device): Promise<void> => {
      device.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'x' }], baseVersion: 0 });
      await device.next('written');
    };
    const startedAt = performance.now();
    await write(one);
    await write(two);
    assert.ok(performance.now() - startedAt >= 39, 'the second device did not wait');

    // Ten turns take 400 ms.
    await eventually('a device that writes alone does not wait', async () => {
      const startedAt = performance.now();
      for (let i = 0; i < 10; i++) await write(one);
      return performance.now() - startedAt < 250;
    });
  });

  it('[LIVE-5] is answered with a conflict if another client was faster, and overwrites nothing', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const [one, two] = [await joinRoom(t, url, room), await joinRoom(t, url, room)];
    await Promise.all([one.next('snapshot'), two.next('snapshot')]);
    one.send({ type: 'content', content: 'first', baseVersion: 0, ref: 'a' });
    await one.next('written');
    two.send({ type: 'content', content: 'second', baseVersion: 0, ref: 'b' });
    const { content, version, ref } = await two.next('conflict');
    assert.deepEqual({ content, version, ref }, { content: 'first', version: 1, ref: 'b' });
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, 'first');
  });

  it('[LIVE-5] of invalid messages is rejected one by one, and the channel stays open', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_CONTENT_MAX: '1KiB' });
    const device = await joinRoom(t, url, await api.room());
    await device.next('snapshot');
    const rubbish: [string | object, string][] = [
      ['{', 'INVALID_JSON'],
      [{ type: 'unknown' }, 'VALIDATION_FAILED'],
      [{ type: 'content', content: 7, baseVersion: 0 }, 'VALIDATION_FAILED'],
      [{ type: 'content', content: 'x' }, 'VALIDATION_FAILED'],
      [{ type: 'content', content: 'x', baseVersion: 0, extra: 1 }, 'VALIDATION_FAILED'],
      ['{"type":"content","content":"\\ud800","baseVersion":0}', 'VALIDATION_FAILED'],
      [{ type: 'content', content: 'x'.repeat(1025), baseVersion: 0 }, 'CONTENT_TOO_LARGE'],
      [{ type: 'join' }, 'VALIDATION_FAILED'],
    ];
    for (const [message, code] of rubbish) {
      device.send(message);
      assert.equal((await device.next('error')).error.code, code, JSON.stringify(message));
      // Five mistakes in a row would end it.
      device.send({ type: 'heartbeat' });
    }
    device.socket.send(Buffer.from([1, 2, 3]));
    assert.equal((await device.next('error')).error.code, 'VALIDATION_FAILED');
    device.send({ type: 'content', content: 'fine', baseVersion: 0 });
    await device.next('written');
  });

  it('[LIVE-5] is rejected with the ref of the message', async (t) => {
    const { api, url } = await sharedServer(t);
    const device = await joinRoom(t, url, await api.room());
    await device.next('snapshot');
    device.send({ type: 'content', content: 'x', baseVersion: -1, ref: 'mine' });
    assert.equal((await device.next('error')).ref, 'mine');
    device.send({ type: 'content', content: 'x', baseVersion: -1, ref: 7 });
    assert.equal((await device.next('error')).ref, undefined);
  });

  it('[LIVE-6] after the expiry of the room receives its end, before the next tick', async (t) => {
    // Nothing but the write is to find out.
    const { api, url, clock } = await startTestServer(t, {}, { heartbeatMs: 3600_000 });
    const device = await joinRoom(t, url, await api.room({ expiresIn: 60 }));
    await device.next('snapshot');
    clock.advance(60_000);
    device.send({ type: 'content', content: 'late', baseVersion: 0 });
    assert.equal((await device.next('closed')).reason, 'expired');
    assert.equal((await device.closed).code, 4410);
    assert.ok(device.received.every(({ type }) => type !== 'error'));
  });

  it('[slow] [LIVE-9] of large texts waits at the sender until the earlier ones are stored', async (t) => {
    const { api, url, port } = await sharedServer(t);
    const device = await joinRoom(t, url, await api.room());
    await device.next('snapshot');
    const texts = 30;
    let [waiting, most] = [0, 0];
    t.after(
      onMessageReceived(
        () => port,
        () => {
          waiting += 1;
          most = Math.max(most, waiting);
        },
      ),
    );
    for (let n = 0; n < texts; n++) device.send({ type: 'content', content: `${n}`.repeat(400_000), baseVersion: n });
    for (let n = 0; n < texts; n++) {
      assert.equal((await device.next('written')).version, n + 1);
      waiting -= 1;
    }
    assert.ok(most <= 5, `${most} texts were read before they could be stored`);
  });

  it('[LIVE-9] too fast closes the channel', async (t) => {
    const { api, url } = await sharedServer(t);
    const device = await joinRoom(t, url, await api.room());
    await device.next('snapshot');
    for (let i = 0; i < 200; i++) device.send({ type: 'heartbeat' });
    assert.equal((await device.closed).code, 4429);
  });

  it('[LIVE-9] too much in one message, or in too many fragments, closes the channel', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_CONTENT_MAX: '1KiB' });
    const room = await api.room();
    const large = await joinRoom(t, url, room);
    await large.next('snapshot');
    large.send({ type: 'content', content: 'x'.repeat(40_000), baseVersion: 0 });
    assert.equal((await large.closed).code, 1009);

    const pieces = await joinRoom(t, url, room);
    await pieces.next('snapshot');
    for (let i = 0; i < 2_000 && pieces.socket.readyState === pieces.socket.OPEN; i++) {
      pieces.socket.send('x', { fin: false });
    }
    assert.ok([1008, 1009].includes((await pieces.closed).code));
  });

  it('[LIVE-9] is not compressed', async (t) => {
    const { api, url } = await sharedServer(t);
    const device = await connect(t, url, await api.room(), { perMessageDeflate: true });
    assert.equal(device.socket.extensions, '');
  });

  it('[LIVE-10] to readers that do not read, by stream or by socket, is not queued, and they are disconnected', async (t) => {
    const { api, url, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' }, { heartbeatMs: 5000 });
    const room = await api.room();
    const writer = await joinRoom(t, url, room);
    await writer.next('snapshot');
    // A bare socket that joins and then never reads again.
    const deaf = connectSocket(port, '127.0.0.1');
    t.after(() => deaf.destroy());
    // The server may cut it off: that is the point.
    deaf.on('error', () => undefined);
    deaf.write(
      `GET /api/rooms/${room}/events?deviceId=deaf HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    const deafSocket = await joinRoom(t, url, room);
    await deafSocket.next('snapshot');
    await writer.next('devices', ({ devices }) => devices.length === 3);
    deaf.pause();
    deafSocket.socket.pause();
    const text = 'x'.repeat(500_000);
    const writes = 60;
    for (let i = 0; i < writes; i++) await api.post(`/api/rooms/${room}/content`, { json: { content: text + i } });
    await writer.next('devices', ({ devices }) => devices.length === 1);
    let received = 0;
    deaf.on('data', (chunk) => {
      received += chunk.length;
    });
    const closed = new Promise((resolve) => deaf.once('close', resolve));
    deaf.resume();
    deafSocket.socket.resume();
    await Promise.all([closed, deafSocket.closed]);
    assert.ok(received < (writes * text.length) / 2, `what was kept for it: ${received} bytes`);
    assert.ok(deafSocket.received.length < writes / 2, `messages kept for the socket: ${deafSocket.received.length}`);
  });
});
