/** Wrong clocks: an expired room is rejected immediately, but rooms are deleted only if the clock is steady. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { steadyAfterMs } from '../../src/core/sweep.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { countRooms, inspectStore } from '../support/store-inspector.ts';

const second = 1000;
const hour = 3600 * second;
const leaps = { 'an hour': hour, 'ten years': 87_660 * hour };
const sweepEveryMs = 30 * second;
const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('a clock that jumps forward', () => {
  for (const [far, leap] of Object.entries(leaps)) {
    it(`[FAULT-4] by ${far}, temporarily, removes no room without a request`, async (t) => {
      const server = await sweepingServer(t);
      const rooms = await furnish(server);
      await leapUntilDoubted(t, server, leap);
      await leapUntilDoubted(t, server, -leap);
      // A stop waits for the sweep that runs.
      await server.restart();
      for (const room of rooms) await assertThere(server, room);
    });

    it(`[FAULT-4] by ${far}, permanently, is trusted after ten steady minutes`, async (t) => {
      const server = await sweepingServer(t);
      await furnish(server);
      const before = await countRooms(server);
      await leapUntilDoubted(t, server, leap);
      server.clock.advance(steadyAfterMs - second);
      t.mock.timers.tick(sweepEveryMs);
      assert.equal(await countRooms(server), before);
      server.clock.advance(second);
      await eventually('the rooms are swept', async () => {
        t.mock.timers.tick(sweepEveryMs);
        return (await countRooms(server)) === 0;
      });
    });

    it(`[FAULT-4] [LIFE-2] by ${far}, makes the server reject expired rooms from the first request`, async (t) => {
      const server = await startTestServer(t, unlimited);
      const [room] = await furnish(server);
      server.clock.now += leap;
      const { status } = await server.api.get(`/api/rooms/${room?.code}`);
      assert.equal(status, leap > 24 * hour ? 404 : 410);
    });

    it(`[FAULT-4] by ${far}, before the server starts, delays all deletions for ten minutes`, async (t) => {
      const server = await sweepingServer(t);
      const rooms = await furnish(server);
      await server.stop();
      server.clock.now += leap;
      await server.restart();
      await eventually('the first sweep', () => doubts(server) === 1);
      server.clock.advance(steadyAfterMs - second);
      t.mock.timers.tick(sweepEveryMs);
      // A stop waits for the sweep that runs.
      await server.stop();
      server.clock.now -= leap + steadyAfterMs;
      await server.restart();
      for (const room of rooms) await assertThere(server, room);
    });
  }

  it('[FAULT-4] [RUN-2] leaves the server ready, and so does one that is set back', async (t) => {
    const { api, clock } = await startTestServer(t);
    for (const leap of Object.values(leaps)) {
      for (const direction of [leap, -leap, -leap, leap]) {
        clock.now += direction;
        assert.equal((await api.get('/readyz')).status, 200);
      }
    }
  });
});

describe('a clock that is set back', () => {
  for (const [far, leap] of Object.entries(leaps)) {
    it(`[FAULT-5] by ${far}, does not revive a room that was rejected as expired`, async (t) => {
      const server = await startTestServer(t, unlimited);
      const { api, clock } = server;
      const [asked, linked, untouched] = await furnish(server);
      assert.ok(asked && linked && untouched);
      clock.now += leap;
      assert.ok([404, 410].includes((await api.get(`/api/rooms/${asked.code}`)).status));
      assertError(await api.get(linked.fileUrl), 404, 'FILE_NOT_FOUND');
      clock.now -= leap;
      for (const { code, fileUrl } of [asked, linked]) {
        assertError(await api.get(`/api/rooms/${code}`), 410, 'ROOM_EXPIRED');
        assertError(await api.get(fileUrl), 404, 'FILE_NOT_FOUND');
      }
      await assertThere(server, untouched);
    });
  }

  for (const [far, leap] of Object.entries(leaps)) {
    it(`[FAULT-5] by ${far}, does not revive a room whose devices were notified of its end, nor one that was swept`, async (t) => {
      const server = await sweepingServer(t, { heartbeatMs: 250 });
      const { api, url, clock } = server;
      const [notified, swept] = [await api.room({ expiresIn: 60 }), await api.room({ expiresIn: 120 })];
      const device = await joinRoom(t, url, notified);
      await device.next('snapshot');
      clock.advance(60 * second);
      t.mock.timers.tick(sweepEveryMs / 1000);
      assert.equal((await device.next('closed')).reason, 'expired');
      await eventually('the room is ended, and not by a sweep', async () => (await countRooms(server)) === 1);
      clock.advance(60 * second);
      await eventually('the sweep runs', async () => {
        t.mock.timers.tick(sweepEveryMs);
        return (await countRooms(server)) === 0;
      });
      clock.now -= leap;
      for (const room of [notified, swept]) assertError(await api.get(`/api/rooms/${room}`), 410, 'ROOM_EXPIRED');
    });

    it(`[FAULT-6] by ${far}, does not make anyone wait longer than a whole window`, async (t) => {
      const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '30', POPROOM_MISS_LIMIT: '3' });
      const { api, clock } = server;
      clock.now += leap;
      const room = await api.room({ pin: '0427' }, { from: '192.0.2.1' });
      for (let n = 0; n < 31; n++) await api.get('/api/health', { from: '192.0.2.2' });
      for (let n = 0; n < 3; n++) await api.get('/api/rooms/000000', { from: '192.0.2.3' });
      clock.now -= leap;
      await server.restart();

      const limited = await api.get('/api/health', { from: '192.0.2.2' });
      assertWait(assertError(limited, 429, 'RATE_LIMITED'), hour);
      assert.ok(Number(limited.headers.get('x-ratelimit-reset')) <= (clock.now + hour) / second);
      assertWait(assertError(await api.get(`/api/rooms/${room}`, { from: '192.0.2.3' }), 429, 'RATE_LIMITED'), hour);
      clock.advance(hour);
      assert.equal((await api.get('/api/health', { from: '192.0.2.2' })).status, 200);
      assert.equal((await api.get(`/api/rooms/${room}`, { pin: '0427', from: '192.0.2.3' })).status, 200);
    });

    it(`[FAULT-6] by ${far}, does not extend the lock of a PIN`, async (t) => {
      const { api, clock } = await startTestServer(t, unlimited);
      clock.now += leap;
      const room = await api.room({ pin: '0427' });
      const wrong = (from: string) => api.get(`/api/rooms/${room}`, { pin: '9999', from });
      for (let n = 0; n < 50; n++) await wrong(`192.0.2.${100 + Math.floor(n / 5)}`);
      clock.now -= leap;
      assertWait(assertError(await wrong('192.0.2.100'), 429, 'PIN_LOCKED'), 30 * second);
      assertWait(assertError(await wrong('192.0.2.99'), 429, 'PIN_LOCKED'), hour);
      clock.advance(hour);
      assertError(await wrong('192.0.2.100'), 403, 'PIN_INCORRECT');
      assertError(await wrong('192.0.2.99'), 403, 'PIN_INCORRECT');
    });
  }

  it('[FAULT-6] [DEV-1] does not count a device for longer than it is present', async (t) => {
    const { api, clock } = await startTestServer(t);
    const room = await api.room();
    clock.now += hour;
    await api.get(`/api/rooms/${room}`, { headers: { 'x-device-id': 'phone' } });
    clock.now -= hour;
    clock.advance(60 * second);
    assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 0);
  });
});

interface Furnished {
  code: string;
  fileUrl: string;
}

/** Rooms with a text and a file, which expire in half an hour. */
async function furnish({ api }: TestServer): Promise<Furnished[]> {
  const furnished: Furnished[] = [];
  for (let n = 0; n < 3; n++) {
    const code = await api.room({ expiresIn: 1800 });
    await api.post(`/api/rooms/${code}/content`, { json: { content: 'kept' } });
    const { fileUrl } = (await api.upload(code, 'kept.txt', 'kept')).json;
    furnished.push({ code, fileUrl: new URL(fileUrl).pathname });
  }
  return furnished;
}

async function assertThere({ api }: TestServer, { code, fileUrl }: Furnished): Promise<void> {
  assert.equal((await api.get(`/api/rooms/${code}/content`)).json.content, 'kept');
  assert.equal((await api.get(fileUrl)).text, 'kept');
}

/** A server whose sweep comes when the test says so, and has seen how both clocks go. */
async function sweepingServer(t: TestContext, surroundings: { heartbeatMs?: number } = {}): Promise<TestServer> {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await startTestServer(t, unlimited, surroundings);
  const { counts } = await inspectStore(server);
  await server.api.room({ expiresIn: 60 });
  server.clock.advance(60 * second);
  await eventually('a sweep', async () => {
    t.mock.timers.tick(sweepEveryMs);
    return (await counts()).rooms === 0;
  });
  return server;
}

/** Sets the clock, and waits until a sweep has noticed. */
async function leapUntilDoubted(t: TestContext, server: TestServer, ms: number): Promise<void> {
  const before = doubts(server);
  server.clock.now += ms;
  await eventually('the sweep doubts the clock', () => {
    t.mock.timers.tick(sweepEveryMs);
    return doubts(server) > before;
  });
}

/** The server notes each time that it begins to doubt its clock. */
function doubts({ logged }: TestServer): number {
  return logged().split('nothing is deleted').length - 1;
}

function assertWait({ retryAfter }: Record<string, unknown>, mostMs: number): void {
  assert.ok(Number(retryAfter) * second <= mostMs, `${retryAfter} seconds is longer than ${mostMs / second}`);
}
