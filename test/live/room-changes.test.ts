/** Devices in a room whose expiry, PIN or name changes. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { EventBus } from '../../src/core/ports/rooms.ts';
import { createRooms } from '../../src/core/rooms.ts';
import { openEngine } from '../../src/engine/open.ts';
import { createHub } from '../../src/live/hub.ts';
import type { Outgoing } from '../../src/live/wire.ts';
import { type Device, type JoinOptions, joinRoom } from '../support/device.ts';
import { engineUnderTest } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const second = 1000;
const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const often = { heartbeatMs: 500 };

describe('devices in a room that changes', () => {
  it('[CHANGE-6] [LIVE-3] receive the new values with the next seq, in both text modes, but never the PIN', async (t) => {
    const { api, url, clock } = await startTestServer(t, unlimited);
    const room = await api.room({ name: 'Office' });
    const at = `/api/rooms/${room}`;
    const devices = [await joinRoom(t, url, room), await joinRoom(t, url, room, { edits: true })];
    for (const device of devices) assert.equal((await device.next('snapshot')).room.name, 'Office');

    const expiresAt = new Date(clock.now + 7200 * second).toISOString();
    const steps = [
      () => api.patch(at, { json: { expiresIn: 7200, name: 'Küche' } }),
      () => api.patch(at, { json: { pin: '5319', name: null } }),
      () => api.get(at, { pin: '9999', from: '203.0.113.9' }),
      () => api.patch(at, { pin: '5319', json: { pin: '5319' } }),
      () => api.patch(at, { pin: '5319', json: { pin: null } }),
    ];
    for (const [index, step] of steps.entries()) {
      await step();
      const type = index === 2 ? 'pin-attempts' : 'room';
      for (const device of devices) assert.equal((await device.next(type)).seq, index + 1);
    }
    for (const device of devices) {
      const changes = device.received.filter(({ type }) => type === 'room' || type === 'pin-attempts');
      assert.deepEqual(changes, [
        { type: 'room', seq: 1, expiresAt, hasPin: false, name: 'Küche', pinAttempts: 0 },
        { type: 'room', seq: 2, expiresAt, hasPin: true, pinChanged: true, pinAttempts: 0 },
        { type: 'pin-attempts', seq: 3, pinAttempts: 1 },
        { type: 'room', seq: 4, expiresAt, hasPin: true, pinAttempts: 0 },
        { type: 'room', seq: 5, expiresAt, hasPin: false, pinChanged: true, pinAttempts: 0 },
      ]);
      assert.ok(!JSON.stringify(device.received).includes('"5319"'));
    }
  });

  it('[CHANGE-6] receive them over server-sent events too', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const aborter = new AbortController();
    t.after(() => aborter.abort());
    const { body } = await fetch(`${url}/api/rooms/${room}/events`, { signal: aborter.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    await api.patch(`/api/rooms/${room}`, { json: { name: 'Office' } });
    assert.match((await reader?.read())?.value ?? '', /^id: 1\nevent: room\ndata: \{"type":"room".*"name":"Office"/);
  });

  it('[CHANGE-6] [LIVE-4] receive a snapshot with the new values when they reconnect and missed them', async (t) => {
    const { api, url } = await startTestServer(t, unlimited);
    const room = await api.room();
    const { seq, content } = await visit(t, url, room);
    await api.patch(`/api/rooms/${room}`, { json: { name: 'Office', expiresIn: 600 } });
    const expected = (await api.get(`/api/rooms/${room}`)).json;
    for (const joining of [{ seq }, { seq, edits: true, version: content.version }]) {
      const snapshot = await visit(t, url, room, joining);
      assert.deepEqual([snapshot.room.name, snapshot.room.expiresAt], ['Office', expected.expiresAt]);
      assert.equal(snapshot.seq, 1);
    }
    const upToDate = await joinRoom(t, url, room, { seq: 1 });
    await upToDate.next('heartbeat');
    assert.ok(!upToDate.received.some(({ type }) => type === 'snapshot'));
  });

  it('[CHANGE-6] [LIVE-6] stay until the new expiry, whether it is later or earlier', async (t) => {
    const { api, url, clock } = await startTestServer(t, unlimited, often);
    const [extended, shortened] = [await api.room({ expiresIn: 60 }), await api.room({ expiresIn: 3600 })];
    const [long, short] = [await joinRoom(t, url, extended), await joinRoom(t, url, shortened)];
    await Promise.all([long.next('snapshot'), short.next('snapshot')]);
    await api.patch(`/api/rooms/${extended}`, { json: { expiresIn: 300 } });
    await api.patch(`/api/rooms/${shortened}`, { json: { expiresIn: 120 } });
    clock.advance(120 * second);
    assert.equal((await short.next('closed')).reason, 'expired');
    assert.equal((await short.closed).code, 4410);
    long.send({ type: 'content', content: 'still here', baseVersion: 0 });
    await long.next('written');
    clock.advance(180 * second);
    assert.equal((await long.next('closed')).reason, 'expired');
  });

  it('[CHANGE-6] are not sent away at the earlier expiry when the notification of an extension was lost', async (t) => {
    const { rooms, session, advance } = await lossyHub(t);
    const { sent, caller } = session;
    await rooms.update(caller, { expiresIn: 600 });
    advance(300 * second);
    await eventually('the session follows the room', () => sent.some(({ type }) => type === 'room'));
    assert.ok(!sent.some(({ type }) => type === 'closed'));
    advance(301 * second);
    await eventually('the session ends with the room', () => sent.some(({ type }) => type === 'closed'));
  });
});

describe('devices in a room with another PIN', () => {
  it('[CHANGE-7] stay and can write, but receive no further resume token', async (t) => {
    const { api, url } = await startTestServer(t, unlimited, often);
    const room = await api.room({ pin: '0427' });
    const at = `/api/rooms/${room}`;
    const stays = await joinRoom(t, url, room, { pin: '0427' });
    assert.ok((await stays.next('snapshot')).resumeToken);
    await api.patch(at, { pin: '0427', json: { pin: '8642' } });
    await stays.next('room');
    stays.send({ type: 'content', content: 'still here', baseVersion: 0 });
    const { seq } = await stays.next('written');
    const isLater = (message: { seq: number }) => message.seq === seq;
    assert.equal((await stays.next('heartbeat', isLater)).resumeToken, undefined);
    const knows = await joinRoom(t, url, room, { pin: '8642' });
    assert.ok((await knows.next('snapshot')).resumeToken);
    assert.ok((await knows.next('heartbeat', isLater)).resumeToken);
    await api.patch(at, { pin: '8642', json: { pin: null } });
    for (const device of [stays, knows]) {
      assert.ok((await device.next('heartbeat', (message) => message.seq === seq + 1)).resumeToken, 'without a PIN');
    }
  });

  it('[CHANGE-7] [LIVE-22] need the new PIN when they return, whatever token and PIN they have', async (t) => {
    const server = await startTestServer(t, unlimited, often);
    const { api, url } = server;
    const [open, locked] = [await api.room(), await api.room({ pin: '0427' })];
    const [first, second] = [await visit(t, url, open), await visit(t, url, locked, { pin: '0427' })];
    await api.patch(`/api/rooms/${open}`, { json: { pin: '8642' } });
    await api.patch(`/api/rooms/${locked}`, { pin: '0427', json: { pin: '8642' } });
    for (const [room, { resumeToken }] of [
      [open, first],
      [locked, second],
    ] as const) {
      assert.equal((await refused(t, server, room, {}, resumeToken)).code, 4401);
      assert.equal((await refused(t, server, room, { pin: '0427' }, resumeToken)).code, 4403);
      const back = await joinRoom(t, url, room, { pin: '8642' }, { resumeToken });
      assert.ok((await back.next('snapshot')).resumeToken);
      const events = await fetch(`${url}/api/rooms/${room}/events`, {
        headers: { 'X-Resume-Token': resumeToken ?? '' },
      });
      assert.equal(events.status, 401);
      await events.body?.cancel();
    }
  });

  it('[CHANGE-7] may return without it when the PIN is removed', async (t) => {
    const { api, url } = await startTestServer(t, unlimited);
    const room = await api.room({ pin: '0427' });
    const { resumeToken } = await visit(t, url, room, { pin: '0427' });
    await api.patch(`/api/rooms/${room}`, { pin: '0427', json: { pin: null } });
    const back = await joinRoom(t, url, room, {}, { resumeToken });
    assert.equal((await back.next('snapshot')).room.hasPin, false);
  });
});

/** Joins and leaves. Returns what it received. */
async function visit(t: TestContext, url: string, room: string, joining: JoinOptions = {}) {
  const device = await joinRoom(t, url, room, joining);
  const snapshot = await device.next('snapshot');
  await device.leave();
  return snapshot;
}

async function refused(
  t: TestContext,
  { url }: TestServer,
  room: string,
  joining: JoinOptions,
  resumeToken: string | undefined,
) {
  const device: Device = await joinRoom(t, url, room, joining, { resumeToken });
  return device.closed;
}

/** A session in a room for five minutes, on a node that receives no notifications. */
async function lossyHub(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
  const config = readConfig({ POPROOM_DATA_DIR: folder, ...engineUnderTest() });
  let now = Date.now();
  const clock = () => now;
  const { store, blobs, bus, secret, close } = await openEngine(config, clock);
  const lossyBus: EventBus = { ...bus, publish: () => undefined };
  const parts = {
    ...{ ...store, quota: noQuota, limits: defaultLimits },
    ...{ blobs, bus: lossyBus, clock, secret },
  };
  const rooms = createRooms(parts, { lifetime: 300, longestLifetime: 3600, largestContent: 1024 });
  // A long interval, so that no renewal reads the room before its expiry is checked.
  const hub = createHub({
    core: parts,
    rooms,
    maxMessageBytes: 1024,
    channelsPerClient: 20,
    heartbeatMs: 2500,
    reconnectsPerSecond: 1000,
    onFailure: () => undefined,
  });
  t.after(async () => {
    hub.stop();
    await close();
    await rm(folder, { recursive: true, force: true });
  });
  const { code } = await rooms.create({ client: 'a', pin: undefined, expiresIn: undefined, history: true });
  const caller = { client: 'a', roomId: code, pin: undefined, deviceId: undefined };
  const sent: Outgoing[] = [];
  const wire = {
    ...{ answersPings: false, backlog: () => 0, ping() {}, close() {} },
    send: (messages: readonly Outgoing[]) => sent.push(...messages),
  };
  const nothing = { deviceName: undefined, seq: undefined, version: undefined, timestamp: undefined };
  await hub.join(wire, { caller, ...nothing, edits: false, linkBase: '', linkTo: () => '' });
  const advance = (ms: number) => {
    now += ms;
  };
  return { rooms, session: { sent, caller }, advance };
}
