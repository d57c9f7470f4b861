/** Heartbeats, and what happens without a reply. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { EventBus } from '../../src/core/ports/rooms.ts';
import { createRooms } from '../../src/core/rooms.ts';
import { openEngine } from '../../src/engine/open.ts';
import { createHub, spreadFor } from '../../src/live/hub.ts';
import type { Outgoing } from '../../src/live/wire.ts';
import { defaultOptions } from '../../src/server/service.ts';
import { connect, joinRoom } from '../support/device.ts';
import { engineUnderTest } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';
import { startTestServer } from '../support/server.ts';

const heartbeatMs = 1000;
const ofDefault = (channels: number) => spreadFor(channels, defaultOptions.reconnectsPerSecond);

describe('heartbeats', () => {
  it('[LIVE-8] are sent regularly, with the current seq', async (t) => {
    const { api, url } = await startTestServer(t, {}, { heartbeatMs });
    const room = await api.room();
    const device = await joinRoom(t, url, room);
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } });
    assert.equal((await device.next('heartbeat', ({ seq }) => seq === 1)).seq, 1);
    await device.next('heartbeat');
  });

  it('[LIVE-28] carry the time over which clients reconnect, which grows with their number', async (t) => {
    const { api, url } = await startTestServer(t, {}, { heartbeatMs, reconnectsPerSecond: 1 });
    const room = await api.room();
    const [one] = await Promise.all([joinRoom(t, url, room), joinRoom(t, url, room)]);
    await one.next('heartbeat', ({ reconnectWithin }) => reconnectWithin === 2000);
    await joinRoom(t, url, await api.room());
    await one.next('heartbeat', ({ reconnectWithin }) => reconnectWithin === 3000);
  });

  it('[LIVE-28] carry none for few clients, and at most 30 seconds', async (t) => {
    assert.deepEqual([0, 1, 499].map(ofDefault), [0, 0, 0]);
    assert.deepEqual([500, 10_000, 1_000_000].map(ofDefault), [1000, 10_000, 30_000]);
    const { api, url } = await startTestServer(t, {}, { heartbeatMs });
    const device = await joinRoom(t, url, await api.room());
    assert.ok(!('reconnectWithin' in (await device.next('heartbeat'))));
  });

  it('[DEV-3] without a reply remove the device', async (t) => {
    const { api, url } = await startTestServer(t, {}, { heartbeatMs });
    const room = await api.room();
    const stays = await joinRoom(t, url, room, { deviceId: 'stays' });
    // Otherwise the snapshot may already contain both devices.
    await stays.next('snapshot');
    // It never replies to a ping, as if its network were down.
    const vanished = await connect(t, url, room, { autoPong: false });
    vanished.send({ type: 'join', deviceId: 'vanished' });
    await stays.next('devices', ({ devices }) => devices.length === 2);
    await stays.next('devices', ({ devices }) => devices.length === 1);
    assert.equal((await vanished.closed).code, 1008);
    assert.equal(stays.socket.readyState, stays.socket.OPEN);
  });

  it('[LIVE-8] bring a device up to date when a notification was lost', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
    const config = readConfig({ POPROOM_DATA_DIR: folder, ...engineUnderTest() });
    const { store, blobs, bus, secret, close } = await openEngine(config, Date.now);
    const lossyBus: EventBus = { ...bus, publish: () => undefined };
    const parts = {
      ...{ ...store, quota: noQuota, limits: defaultLimits },
      ...{ blobs, bus: lossyBus, clock: Date.now, secret },
    };
    const rooms = createRooms(parts, { lifetime: 3600, longestLifetime: 3600, largestContent: 1024 });
    const hub = createHub({
      core: parts,
      rooms,
      maxMessageBytes: 1024 * 1024,
      channelsPerClient: 20,
      heartbeatMs,
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
      answersPings: false,
      send: (messages: readonly Outgoing[]) => sent.push(...messages),
      backlog: () => 0,
      ping() {},
      close() {},
    };
    await hub.join(wire, {
      caller,
      deviceName: undefined,
      seq: undefined,
      edits: false,
      version: undefined,
      timestamp: undefined,
      linkBase: '',
      linkTo: () => '',
    });
    await rooms.writeContent(caller, 'not announced', undefined);
    await eventually('the session receives the text', () =>
      sent.some(({ type, text }) => type === 'content' && text.includes('not announced')),
    );
  });
});
