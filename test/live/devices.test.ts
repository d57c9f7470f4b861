/** The devices of a room. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { RoomDevice, ServerMessage } from '../../src/protocol/types.ts';
import { assertError } from '../support/assert-error.ts';
import { connect, type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('devices in a room', () => {
  it('[DEV-1] see each other by name, and two channels of one device are one', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const phone = await joinRoom(t, url, room, { deviceId: 'phone', deviceName: 'My phone' });
    await phone.next('snapshot');
    const tab = await joinRoom(t, url, room, { deviceId: 'laptop', deviceName: 'My laptop' });
    const both = [
      { deviceId: 'phone', deviceName: 'My phone' },
      { deviceId: 'laptop', deviceName: 'My laptop' },
    ];
    assert.deepEqual((await phone.next('devices')).devices, both);
    assert.deepEqual((await tab.next('snapshot')).devices, both);
    const secondTab = await joinRoom(t, url, room, { deviceId: 'laptop', deviceName: 'My laptop' });
    await secondTab.next('snapshot');
    assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 2);
    await api.get(`/api/rooms/${room}`, { headers: { 'x-device-id': 'script' } });
    assert.equal((await api.get(`/api/rooms/${room}`, { headers: { 'x-device-id': 'phone' } })).json.deviceCount, 3);
  });

  it('[DEV-3] are removed within two seconds of a clean close', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const stays = await joinRoom(t, url, room, { deviceId: 'stays' });
    await stays.next('snapshot');
    const leave = async () => {
      const goes = await joinRoom(t, url, room, { deviceId: 'goes' });
      await stays.next('devices', ({ devices }) => devices.length === 2);
      const before = performance.now();
      await goes.leave();
      const { devices } = await stays.next('devices', ({ devices }) => devices.length === 1);
      assert.deepEqual(devices, [{ deviceId: 'stays' }]);
      return performance.now() - before;
    };
    // A stall of the machine may delay one of them.
    const times = [await leave(), await leave(), await leave()];
    assert.ok(Math.min(...times) < 2000, `${times} ms`);
    assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 1);
  });

  it('[DEV-4] are rejected with the reason when the room has reached its limit', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_MAX_DEVICES_PER_ROOM: '2' });
    const room = await api.room();
    for (const deviceId of ['one', 'two', 'two']) await (await joinRoom(t, url, room, { deviceId })).next('snapshot');
    const third = await joinRoom(t, url, room, { deviceId: 'three' });
    assert.match((await third.next('error')).error.message, /device limit/);
    assert.equal((await third.closed).code, 4429);
    const events = await api.get(`/api/rooms/${room}/events?deviceId=three`);
    assert.deepEqual(assertError(events, 429, 'RATE_LIMITED'), { reason: 'devices', retryAfter: 60 });
  });

  it('[DEV-5] [DEV-6] cost the others few bytes when they join and leave in quick succession', async (t) => {
    const { api, url } = await sharedServer(t, { POPROOM_MAX_CHANNELS_PER_CLIENT: '1000' });
    const room = await api.room();
    const present: Device[] = [];
    for (let n = 0; n < 98; n++) {
      const deviceName = `Chrome on the computer number ${n}`;
      present.push(await joinRoom(t, url, room, { deviceId: `computer-${n}`, deviceName, deviceChanges: n % 2 === 0 }));
    }
    const lastJoined = present.at(-1)?.next('snapshot');
    const { resumeToken } = (await lastJoined) ?? {};
    const [ofChanges = assert.fail(), ofLists = assert.fail()] = present;
    await eventually('all know all', () => present.every((device) => devicesKnownTo(device).length === 98));
    const listBytes = JSON.stringify(devicesKnownTo(ofLists)).length;

    const before = present.map(bytesReceived);
    const start = performance.now();
    for (let n = 0; n < 161; n++) {
      const device = await joinRoom(t, url, room, { deviceId: `phone-${n}` }, { resumeToken });
      const snapshot = await device.next('snapshot');
      assert.ok(snapshot.devices.some(({ deviceId }) => deviceId === `phone-${n}`));
      await device.leave();
    }
    await (await joinRoom(t, url, room, { deviceId: 'last' }, { resumeToken })).next('snapshot');
    const isComplete = (device: Device) => {
      const known = devicesKnownTo(device);
      return known.length === 99 && known.some(({ deviceId }) => deviceId === 'last');
    };
    await eventually('all know the devices that are there', () => present.every(isComplete));
    const seconds = (performance.now() - start) / 1000;
    const received = present.map((device, n) => bytesReceived(device) - (before[n] ?? 0));
    const [mostOfChanges, mostOfLists] = [0, 1].map((odd) => Math.max(...received.filter((_, n) => n % 2 === odd)));
    assert.ok((mostOfChanges ?? 0) < 161 * 400, `${mostOfChanges} bytes of changes`);
    const allowed = 16 * 1024 * seconds + 2 * listBytes;
    assert.ok((mostOfLists ?? 0) < allowed, `${mostOfLists} bytes of lists in ${seconds} s`);
    const idsOf = (device: Device) => devicesKnownTo(device).map(({ deviceId }) => deviceId);
    assert.deepEqual(idsOf(ofChanges).sort(), idsOf(ofLists).sort());
    assert.ok(!ofChanges.received.some(({ type }) => type === 'devices'));
    assert.ok(!ofLists.received.some(({ type }) => type === 'devices-changed'));
  });

  it('[DEV-6] are reported as differences to clients that ask for them, with their new name', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    const watcher = await joinRoom(t, url, room, { deviceId: 'watcher', deviceChanges: true });
    const { seq } = await watcher.next('snapshot');
    const phone = await joinRoom(t, url, room, { deviceId: 'phone', deviceName: 'Old' });
    const joined = [{ deviceId: 'phone', deviceName: 'Old' }];
    assert.deepEqual(await watcher.next('devices-changed'), { type: 'devices-changed', seq, joined, left: [] });
    await phone.leave();
    assert.deepEqual((await watcher.next('devices-changed')).left, ['phone']);
    await joinRoom(t, url, room, { deviceId: 'phone' });
    assert.deepEqual((await watcher.next('devices-changed')).joined, [{ deviceId: 'phone' }]);
    await joinRoom(t, url, room, { deviceId: 'phone', deviceName: 'New' });
    const renamed = await watcher.next('devices-changed');
    assert.deepEqual([renamed.joined, renamed.left], [[{ deviceId: 'phone', deviceName: 'New' }], []]);
  });

  it('[LIVE-12] may have exactly the maximum number of channels', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_MAX_CHANNELS_PER_CLIENT: '2' });
    const room = await api.room();
    const first = await joinRoom(t, url, room);
    await first.next('snapshot');
    await (await joinRoom(t, url, room)).next('snapshot');
    const refused = new Promise<number | undefined>((resolve) => {
      void connect(t, url, room).catch((error) => resolve(Number(/\d{3}/.exec(String(error))?.[0])));
    });
    assert.equal(await refused, 429);
    const details = assertError(await api.get(`/api/rooms/${room}/events`), 429, 'RATE_LIMITED');
    assert.deepEqual(details, { reason: 'channels', retryAfter: 60, maximum: 2 });
    await first.leave();
    await (await joinRoom(t, url, room)).next('snapshot');
  });
});

const bytesReceived = ({ socket }: Device): number => (socket as unknown as { _socket: Socket })._socket.bytesRead;

/** The list that a device has by its messages. */
function devicesKnownTo({ received }: Device): RoomDevice[] {
  const devices = new Map<string, RoomDevice>();
  for (const message of received) {
    if (message.type === 'snapshot' || message.type === 'devices') devices.clear();
    const left = message.type === 'devices-changed' ? message.left : [];
    for (const deviceId of left) devices.delete(deviceId);
    for (const device of devicesIn(message)) devices.set(device.deviceId, device);
  }
  return [...devices.values()];
}

function devicesIn(message: ServerMessage): RoomDevice[] {
  if (message.type === 'devices-changed') return message.joined;
  return message.type === 'snapshot' || message.type === 'devices' ? message.devices : [];
}
