/** The devices of a room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { connect, joinRoom } from '../support/device.ts';
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
    const goes = await joinRoom(t, url, room, { deviceId: 'goes' });
    await stays.next('devices', ({ devices }) => devices.length === 2);
    const before = performance.now();
    await goes.leave();
    assert.deepEqual((await stays.next('devices', ({ devices }) => devices.length === 1)).devices, [
      { deviceId: 'stays' },
    ]);
    assert.ok(performance.now() - before < 2_000);
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
