/** Following a room with the SDK, through interruptions, to its end. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, PoproomError } from '../../src/client/index.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { startMaliciousServer } from '../support/malicious-server.ts';
import { saveState } from '../support/saved-state.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startCaptivePortal } from './captive-portal.ts';
import { follow } from './follower.ts';

/** Less than a try takes that hangs on a dead line. */
const deadLineMs = 7_000;

describe('following a room', () => {
  it('[SDK-3] reports the whole room, then of each change', async (t) => {
    const { url, api } = await sharedServer(t);
    const client = createClient({ url, deviceId: 'one', deviceName: 'The first' });
    const { code: roomId } = await client.createRoom();
    const follower = follow(t, client.room(roomId));
    const { room, content, devices } = await follower.next('snapshot');
    assert.deepEqual(
      follower.events.map(({ type }) => type),
      ['connecting', 'connected', 'snapshot'],
    );
    assert.equal(room.roomId, roomId);
    assert.equal(content.content, '');
    assert.deepEqual(devices, [{ deviceId: 'one', deviceName: 'The first' }]);

    await api.post(`/api/rooms/${roomId}/content`, { json: { content: 'by REST' } });
    assert.equal((await follower.next('content')).content, 'by REST');
    await api.upload(roomId, 'a.txt', 'hello');
    const { file } = await follower.next('file-added');
    await client.room(roomId).removeFile(file.fileId);
    assert.equal((await follower.next('file-removed')).fileId, file.fileId);
  });

  it('[SDK-3] survives a restart of the server, without another snapshot if it missed nothing', async (t) => {
    const server = await startTestServer(t, { PORT: String(await freePort()) });
    const room = await server.api.room();
    const follower = follow(t, createClient({ url: server.url, deviceId: 'one' }).room(room));
    await follower.next('snapshot');
    await server.restart();
    const waiting = await follower.next('waiting');
    assert.equal(waiting.error.code, 'UNAVAILABLE');
    assert.ok(waiting.until.getTime() > follower.receivedAt(waiting) - 5_000);
    await follower.next('connected');
    await follower.next('devices');
    assert.equal(follower.events.filter(({ type }) => type === 'snapshot').length, 1);

    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'after' } });
    assert.equal((await follower.next('content')).content, 'after');
  });

  it('[SDK-3] receives a snapshot if it missed changes', async (t) => {
    const server = await sharedServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room();
    const follower = follow(t, createClient({ url: proxy.url }).room(room));
    await follower.next('snapshot');
    proxy.pause();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'missed' } });
    proxy.disconnect();
    proxy.resume();
    assert.equal((await follower.next('waiting')).error.code, 'OFFLINE');
    assert.equal((await follower.next('snapshot')).content.content, 'missed');
  });

  it('[SDK-3] receives the current state of a room that has lost its last changes', async (t) => {
    const server = await startTestServer(t, { PORT: String(await freePort()) });
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room();
    const write = (content: string) => server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    await write('kept');
    const goBack = await saveState(server);
    const follower = follow(t, createClient({ url: proxy.url }).room(room));
    await follower.next('snapshot');
    for (const lost of ['lost', 'lost too']) await write(lost);
    for (;;) if ((await follower.next('content')).content === 'lost too') break;
    await goBack();
    follower.live.wake();
    assert.equal((await follower.next('snapshot')).content.content, 'kept');
    proxy.pause();
    for (const other of ['other', 'other too']) await write(other);
    proxy.disconnect();
    proxy.resume();
    await follower.next('waiting');
    follower.live.wake();
    assert.equal((await follower.next('snapshot')).content.content, 'other too');
  });

  it('[SDK-3] retries with a delay that doubles, or immediately when it is woken', async (t) => {
    const server = await startTestServer(t, { PORT: String(await freePort()) });
    const follower = follow(t, createClient({ url: server.url }).room(await server.api.room()));
    await follower.next('snapshot');
    await server.stop();
    const waits: number[] = [];
    await follower.next('waiting');
    let last = 0;
    // The last one takes at least 8 seconds, in which a busy machine starts a server.
    for (let tries = 0; tries < 5; tries++) {
      follower.live.wake();
      const waiting = await follower.next('waiting');
      assert.equal(waiting.error.code, 'OFFLINE');
      last = waiting.until.getTime();
      waits.push(last - follower.receivedAt(waiting));
    }
    for (const [i, wait] of waits.entries()) {
      assert.ok(wait <= 1_000 * 2 ** i && wait > 500 * 2 ** i - 200, `the waits were ${waits}`);
    }
    await server.restart();
    follower.live.wake();
    const connected = await follower.next('connected');
    assert.ok(follower.receivedAt(connected) < last, 'it did not wait');
  });

  it('[SDK-3] replaces a dead connection when it is woken', async (t) => {
    const server = await sharedServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room();
    const follower = follow(t, createClient({ url: proxy.url }).room(room));
    await follower.next('snapshot');
    proxy.dropSilently();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'slept through' } });
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
    follower.live.wake();
    assert.equal((await follower.next('snapshot')).content.content, 'slept through');
  });

  it('[SDK-3] reconnects when it is woken, though an earlier try still hangs on a dead line', async (t) => {
    const server = await sharedServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const follower = follow(t, createClient({ url: proxy.url }).room(await server.api.room()));
    await follower.next('snapshot');
    const before = proxy.connections;
    proxy.disconnect();
    proxy.pause();
    await eventually('it tries again', () => proxy.connections > before);
    proxy.dropSilently();
    proxy.resume();
    follower.live.wake();
    await follower.next('connected', deadLineMs);
  });

  it('[SDK-3] survives a captive portal', async (t) => {
    const server = await sharedServer(t);
    const portal = await startCaptivePortal(t, 200);
    let port = server.port;
    const proxy = await startTcpProxy(t, () => port);
    const follower = follow(t, createClient({ url: proxy.url }).room(await server.api.room()));
    await follower.next('snapshot');
    port = portal;
    proxy.disconnect();
    await follower.next('waiting');
    await follower.next('waiting');
    port = server.port;
    proxy.disconnect();
    follower.live.wake();
    await follower.next('connected');
  });

  it('[SDK-3] reconnects with a changed name', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = await api.room();
    const one = follow(t, createClient({ url, deviceId: 'one', deviceName: 'Old' }).room(room));
    await one.next('snapshot');
    const two = follow(t, createClient({ url, deviceId: 'two' }).room(room));
    await two.next('snapshot');
    one.live.rename('New');
    await eventually('the other sees the name', () =>
      two.events.some(
        (event) => event.type === 'devices' && event.devices.some(({ deviceName }) => deviceName === 'New'),
      ),
    );
  });

  for (const encrypted of [false, true])
    it(`[DEV-6] [SDK-3] receives all devices after each change, in ${encrypted ? 'an encrypted' : 'a plain'} room`, async (t) => {
      const server = await sharedServer(t);
      const proxy = await startMaliciousServer(t, () => server.port);
      const types = new Set<unknown>();
      proxy.tamperMessage = (message) => {
        types.add(message.type);
        return message;
      };
      const laptop = { deviceId: 'laptop', deviceName: 'Zoë’s laptop' };
      const room = await createClient({ url: proxy.url, ...laptop }).createRoom({ encrypted });
      const follower = follow(t, room);
      assert.deepEqual((await follower.next('snapshot')).devices, [laptop]);
      const guest = createClient({ url: server.url, deviceId: 'phone', deviceName: 'Old' });
      const other = follow(t, guest.room(room.code, { key: room.key }));
      const phone = (deviceName: string) => ({ deviceId: 'phone', deviceName });
      assert.deepEqual((await follower.next('devices')).devices, [laptop, phone('Old')]);
      await other.next('snapshot');
      other.live.rename('New');
      const seen = () => follower.events.flatMap((event) => (event.type === 'devices' ? [event.devices] : [])).at(-1);
      await eventually('the new name is seen', () => seen()?.some(({ deviceName }) => deviceName === 'New'));
      assert.deepEqual(seen(), [laptop, phone('New')]);
      other.leave();
      await eventually('it is gone', () => seen()?.length === 1);
      assert.deepEqual(seen(), [laptop]);
      assert.ok(types.has('devices-changed') && !types.has('devices'));
    });

  it('[SDK-3] [SDK-4] ends when its signal aborts, and the device is removed', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = await api.room();
    const follower = follow(t, createClient({ url }).room(room));
    await follower.next('snapshot');
    assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 1);
    follower.leave();
    assert.equal(await follower.end, 'left');
    await eventually('the device is gone', async () => (await api.get(`/api/rooms/${room}`)).json.deviceCount === 0);
  });

  it('[SDK-3] [SDK-4] ends when its loop is left, and the device is removed', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = await api.room();
    for await (const { type } of createClient({ url }).room(room).live()) if (type === 'snapshot') break;
    await eventually('the device is gone', async () => (await api.get(`/api/rooms/${room}`)).json.deviceCount === 0);
  });
});

describe('the end of following', () => {
  it('[SDK-4] is an error for a room that is unknown or has expired', async (t) => {
    const { url, api, clock } = await startTestServer(t);
    const client = createClient({ url });
    await assert.rejects(follow(t, client.room('ZZZZZZ')).end, is('ROOM_NOT_FOUND'));
    await assert.rejects(follow(t, client.room('no/code?')).end, is('ROOM_NOT_FOUND'));
    const room = await api.room({ expiresIn: 60 });
    clock.advance(61_000);
    await assert.rejects(follow(t, client.room(room)).end, is('ROOM_EXPIRED'));
  });

  it('[SDK-4] is the same error if a proxy never responds to the upgrade', async (t) => {
    const server = await sharedServer(t);
    const url = await startBadProxy(t, server.port, { ignoresUpgrade: true });
    hasten(t, 20);
    await assert.rejects(follow(t, createClient({ url }).room('ZZZZZZ')).end, is('ROOM_NOT_FOUND'));
  });

  it('[SDK-4] is an error for a PIN that is missing or wrong, with the remaining tries', async (t) => {
    const { url, api } = await sharedServer(t);
    const client = createClient({ url });
    const room = await api.room({ pin: '1234' }, { from: '10.0.0.9' });
    await assert.rejects(follow(t, client.room(room)).end, is('PIN_REQUIRED'));
    for (const triesLeft of [4, 3, 2, 1, 0]) {
      const error = await follow(t, client.room(room, { pin: '0000' })).end.catch((error: PoproomError) => error);
      assert.ok(error instanceof PoproomError);
      assert.equal(error.code, 'PIN_INCORRECT');
      assert.equal(error.details.triesLeft, triesLeft);
    }
    const locked = await follow(t, client.room(room, { pin: '1234' })).end.catch((error: PoproomError) => error);
    assert.ok(locked instanceof PoproomError);
    assert.equal(locked.code, 'PIN_LOCKED');
    assert.equal(locked.retryAfter, 30);
  });

  it('[SDK-4] reports that the room was deleted or has expired', async (t) => {
    const { url, api, clock } = await startTestServer(t);
    const client = createClient({ url });
    const [doomed, brief] = [await api.room(), await api.room({ expiresIn: 60 })];
    const followers = [follow(t, client.room(doomed)), follow(t, client.room(brief))] as const;
    await Promise.all(followers.map((follower) => follower.next('snapshot')));
    await client.room(doomed).delete();
    assert.equal(await followers[0].end, 'deleted');
    clock.advance(61_000);
    assert.equal(await followers[1].end, 'expired');
  });

  it('[SDK-4] reports this even if it happened during an interruption', async (t) => {
    const server = await sharedServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room();
    const follower = follow(t, createClient({ url: proxy.url }).room(room));
    await follower.next('snapshot');
    proxy.pause();
    await server.api.delete(`/api/rooms/${room}`);
    proxy.disconnect();
    proxy.resume();
    await assert.rejects(follower.end, is('ROOM_NOT_FOUND'));
  });
});

/** Makes the waiting so many times shorter. */
function hasten(t: TestContext, times: number): void {
  const { setTimeout } = globalThis;
  const { timeout } = AbortSignal;
  const sooner = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    setTimeout(work, ms / times, ...args);
  t.mock.method(globalThis, 'setTimeout', sooner as typeof setTimeout);
  t.mock.method(AbortSignal, 'timeout', (ms: number) => timeout.call(AbortSignal, ms / times));
}

const is = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
