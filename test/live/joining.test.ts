/** Joining a room: admission, rejection and reconnecting. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect, joinRoom } from '../support/device.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('joining', () => {
  it('[LIVE-7] is rejected with the reason and its close code', async (t) => {
    const { api, url, clock } = await startTestServer(t);
    const room = await api.room({ pin: '0427' });
    const old = await api.room({ expiresIn: 60 });
    const refusals: [string, object, string, number][] = [
      [room, {}, 'PIN_REQUIRED', 4401],
      [room, { pin: '9999' }, 'PIN_INCORRECT', 4403],
      ['ZZZZZZ', {}, 'ROOM_NOT_FOUND', 4404],
      ['no room', {}, 'ROOM_NOT_FOUND', 4404],
    ];
    for (const [code, joining, error, closeCode] of refusals) {
      const device = await joinRoom(t, url, code, joining);
      assert.equal((await device.next('error')).error.code, error);
      assert.equal((await device.closed).code, closeCode);
      assert.equal(device.received.length, 1, 'no snapshot');
    }
    for (let i = 0; i < 4; i++) await (await joinRoom(t, url, room, { pin: '9999' })).closed;
    assert.equal((await (await joinRoom(t, url, room, { pin: '0427' })).closed).code, 4429);
    clock.advance(61_000);
    assert.equal((await (await joinRoom(t, url, old)).closed).code, 4410);
  });

  it('[LIVE-11] must happen within five seconds', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    // The server starts to count before the client knows that the channel is open.
    const before = performance.now();
    const device = await connect(t, url, room);
    assert.equal((await device.closed).code, 1008);
    const waitedMs = performance.now() - before;
    // A busy machine may close it later, but not as late as a missing heartbeat.
    assert.ok(waitedMs > 4_900 && waitedMs < 20_000, `closed after ${waitedMs} ms`);
  });

  it('[LIVE-11] must be the first message', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    for (const first of [
      { type: 'content', content: 'x', baseVersion: 0 },
      'rubbish',
      { type: 'other' },
      '[]',
      'null',
    ]) {
      const device = await connect(t, url, room);
      device.send(first);
      assert.equal((await device.closed).code, 1008, JSON.stringify(first));
    }
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, '');
  });

  it('[LIVE-4] with its last seq sends a device only what it missed', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'one' } });
    const first = await joinRoom(t, url, room, { deviceId: 'phone' });
    const { seq } = await first.next('snapshot');
    await first.leave();
    const missedNothing = await joinRoom(t, url, room, { deviceId: 'phone', seq });
    await missedNothing.next('devices');
    assert.equal(missedNothing.received[0]?.type, 'devices');
    await missedNothing.leave();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'two' } });
    const missedOne = await joinRoom(t, url, room, { deviceId: 'phone', seq });
    assert.equal((await missedOne.next('snapshot')).content.content, 'two');
  });

  it('[LIVE-13] is allowed for pages of this origin, of allowed origins, and for other programs', async (t) => {
    const { api, url, port } = await startTestServer(t, { POPROOM_ALLOWED_ORIGINS: 'https://app.example.org' });
    const room = await api.room();
    for (const origin of [undefined, url, 'https://app.example.org']) {
      await connect(t, url, room, origin === undefined ? {} : { origin });
    }
    for (const origin of ['https://evil.example', `http://127.0.0.1:${port}.evil.example`, 'null', 'rubbish']) {
      await assert.rejects(connect(t, url, room, { origin }), /403/, origin);
    }
  });

  it('[LIVE-1] counts as one request, with the rate limit headers on the opening response', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const room = await api.room();
    const device = await connect(t, url, room);
    device.send({ type: 'join' });
    await device.next('snapshot');
    for (let i = 0; i < 10; i++) device.send({ type: 'heartbeat' });
    const events = await fetch(`${url}/api/rooms/${room}/events`);
    assert.equal(events.headers.get('x-ratelimit-remaining'), '0');
    await events.body?.cancel();
    await assert.rejects(connect(t, url, room), /429/);
  });
});
