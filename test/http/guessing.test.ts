/** The guards against guessing, over the API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { roomOperations } from '../support/room-operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const second = 1000;
const hour = 3600 * second;
const right = '0427';
const wrong = '9999';
/** Only the guards of PINs are at work. */
const pinGuards = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const missGuard = { POPROOM_FREE_LIMIT: '0' };

describe('wrong PINs of one client', () => {
  it('[slow] [GUESS-1] are evaluated at most 5 times if 200 are concurrent', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const room = await api.room({ pin: right }, { from: maker });
    const guesses = Array.from({ length: 200 }, (_, n) => String(5000 + n));
    const responses = await Promise.all(guesses.map((pin) => api.get(`/api/rooms/${room}`, { pin })));
    assert.deepEqual(tally(responses), { '403 PIN_INCORRECT': 5, '429 PIN_LOCKED': 195 });
  });

  it('[GUESS-1] are counted together, whatever operation they are for', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const room = await api.room({ pin: right }, { from: maker });
    const guesses = Array.from({ length: 5 }, () => roomOperations).flat();
    const responses = await Promise.all(guesses.map(({ run }) => run(api, room, { pin: wrong })));
    assert.deepEqual(tally(responses), { '403 PIN_INCORRECT': 5, '429 PIN_LOCKED': guesses.length - 5 });
  });

  it('[GUESS-2] lock it out for 30 seconds, then twice as long each time, up to an hour', async (t) => {
    const { api, clock } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right, expiresIn: 604_800 }, { from: maker }));
    for (const triesLeft of [4, 3, 2, 1]) assert.deepEqual((await look(wrong)).json.error.details, { triesLeft });
    const locks: unknown[] = [];
    for (let tries = 0; tries < 10; tries++) {
      const { lockedFor, triesLeft } = assertError(await look(wrong), 403, 'PIN_INCORRECT');
      assert.equal(triesLeft, 0);
      assertLocked(await look(wrong), Number(lockedFor));
      locks.push(lockedFor);
      clock.advance(Number(lockedFor) * second);
    }
    assert.deepEqual(locks, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  it('[GUESS-2] lock it out whatever PIN it sends, and to the millisecond', async (t) => {
    const { api, clock } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    for (let tries = 0; tries < 5; tries++) await look(wrong);
    assertLocked(await look(right), 30);
    clock.advance(10 * second);
    assertLocked(await look(right), 20);
    clock.advance(20 * second - 1);
    assertLocked(await look(right), 1);
    clock.advance(1);
    assert.equal((await look(right)).status, 200);
  });

  it('[GUESS-2] are forgotten after the correct one', async (t) => {
    const { api, clock } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    for (let tries = 0; tries < 4; tries++) await look(wrong);
    await look(right);
    assert.equal((await look(wrong)).json.error.details.triesLeft, 4);
    for (let tries = 0; tries < 4; tries++) await look(wrong);
    clock.advance(30 * second);
    await look(right);
    for (let tries = 0; tries < 4; tries++) await look(wrong);
    assert.equal((await look(wrong)).json.error.details.lockedFor, 30);
  });

  it('[GUESS-2] lock it out of this room only, and no other client', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const [room, other] = [await api.room({ pin: right }), await api.room({ pin: right })];
    const look = guesser(api, room);
    for (let tries = 0; tries < 5; tries++) await look(wrong);
    assertLocked(await look(right), 30);
    assert.equal((await look(right, '192.0.2.2')).status, 200);
    assert.equal((await api.get(`/api/rooms/${other}`, { pin: right, from: stranger })).status, 200);
  });

  it('[GUESS-2] do not include a missing one, nor one that cannot be a PIN', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    for (let tries = 0; tries < 10; tries++) {
      assertError(await look(undefined), 401, 'PIN_REQUIRED');
      assertError(await look('12345'), 400, 'VALIDATION_FAILED');
    }
    assert.equal((await look(wrong)).json.error.details.triesLeft, 4);
  });
});

describe('wrong PINs of all clients', () => {
  it('[GUESS-3] lock out unknown clients after 50 within an hour, but neither the creator nor clients that gave the correct one', async (t) => {
    const { api, clock } = await startTestServer(t, pinGuards);
    const friend = '192.0.2.2';
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    await look(right, friend);
    for (let n = 0; n < 49; n++) assertError(await look(wrong, `198.51.100.${n}`), 403, 'PIN_INCORRECT');
    assert.equal((await look(right, '198.51.101.1')).status, 200);
    clock.advance(10 * 60 * second);
    assertError(await look(wrong, '198.51.100.49'), 403, 'PIN_INCORRECT');
    assertLocked(await look(right, '198.51.101.2'), 3000);
    assertLocked(await look(wrong, '198.51.101.3'), 3000);
    for (const known of [maker, friend, '198.51.101.1']) assert.equal((await look(right, known)).status, 200, known);
    clock.advance(50 * 60 * second - 1);
    assertLocked(await look(right, '198.51.101.2'), 1);
    clock.advance(1);
    assert.equal((await look(right, '198.51.101.2')).status, 200);
  });

  it('[slow] [GUESS-3] are evaluated 50 times if 200 clients send them concurrently', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    const responses = await Promise.all(Array.from({ length: 200 }, (_, n) => look(wrong, `198.51.100.${n}`)));
    assert.deepEqual(tally(responses), { '403 PIN_INCORRECT': 50, '429 PIN_LOCKED': 150 });
    assert.equal((await look(right, maker)).status, 200);
  });

  it('[slow] [GUESS-6] lock out unknown clients after 80 and newcomers after 20 more over the lifetime of a room, but no client that gave the correct one', async (t) => {
    const server = await startTestServer(t, pinGuards);
    const { api, clock } = server;
    const friend = '192.0.2.2';
    const look = guesser(api, await api.room({ pin: right, expiresIn: 604_800 }, { from: maker }));
    await look(right, friend);
    const guessed: ApiResponse[] = [];
    for (let hours = 0; hours < 4; hours++) {
      guessed.push(...(await Promise.all(Array.from({ length: 90 }, (_, n) => look(wrong, addressIn(hours, n))))));
      clock.advance(hour);
    }
    assert.equal(guessed.filter(({ code }) => code === 'PIN_INCORRECT').length, 100);
    await server.restart();
    clock.advance(24 * hour);
    const newcomer = await look(right, '203.0.113.1');
    assertLocked(newcomer, 3600);
    assert.match(newcomer.json.error.message, /can join again after someone in it changes the PIN/);
    for (const known of [maker, friend]) assert.equal((await look(right, known)).status, 200, known);
  });

  it('[GUESS-7] do not lock out a newcomer from another network that has the correct one', async (t) => {
    const { api } = await startTestServer(t, pinGuards);
    const look = guesser(api, await api.room({ pin: right }, { from: maker }));
    for (let n = 0; n < 50; n++) assertError(await look(wrong, `198.51.100.${n}`), 403, 'PIN_INCORRECT');
    assertLocked(await look(right, '198.51.101.1'), 3600);
    assert.equal((await look(right, '203.0.113.1')).status, 200);
    assert.equal((await look(right, '2001:db8:0:1::1')).status, 200);
    assertError(await look(wrong, '2001:db9:0:1::1'), 403, 'PIN_INCORRECT');
    assertLocked(await look(right, '2001:db9:ffff:2::1'), 3600);
  });
});

describe('misses of one client', () => {
  it('[GUESS-4] end its lookups after 20 within an hour, including existing rooms', async (t) => {
    const { api, clock } = await startTestServer(t, missGuard);
    const room = await api.room();
    for (let misses = 0; misses < 20; misses++) {
      assertError(await api.get(`/api/rooms/${unknown(misses)}`), 404, 'ROOM_NOT_FOUND');
    }
    for (const { name, run } of roomOperations) {
      const response = await run(api, room);
      const details = assertError(response, 429, 'RATE_LIMITED', name);
      assert.deepEqual(details, { reason: 'misses', retryAfter: 3600 });
      assert.equal(response.headers.get('retry-after'), '3600');
    }
    assert.equal((await api.post('/api/rooms')).status, 201);
    assert.equal((await api.get(`/api/rooms/${room}`, { from: stranger })).status, 200);
    clock.advance(hour - 1);
    assertError(await api.get(`/api/rooms/${room}`), 429, 'RATE_LIMITED');
    clock.advance(1);
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
  });

  it('[GUESS-4] are unknown codes, invalid codes, and wrong PINs, across all rooms', async (t) => {
    const { api } = await startTestServer(t, missGuard);
    const rooms = [await api.room({ pin: right }), await api.room({ pin: right })];
    for (const room of rooms)
      for (let tries = 0; tries < 5; tries++) await api.get(`/api/rooms/${room}`, { pin: wrong });
    for (let misses = 0; misses < 5; misses++) await api.get('/api/rooms/nonsense!');
    for (let misses = 0; misses < 5; misses++) {
      assertError(
        await api.post(`/api/rooms/${unknown(misses)}/content`, { json: { content: '' } }),
        404,
        'ROOM_NOT_FOUND',
      );
    }
    assertError(await api.get(`/api/rooms/${rooms[0]}`, { pin: right }), 429, 'RATE_LIMITED');
  });

  it('[slow] [GUESS-4] are answered exactly 20 times if 100 are concurrent', async (t) => {
    const { api } = await startTestServer(t, missGuard);
    const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => api.get(`/api/rooms/${unknown(n)}`)));
    assert.deepEqual(tally(responses), { '404 ROOM_NOT_FOUND': 20, '429 RATE_LIMITED': 80 });
  });

  it('[slow] [GUESS-4] do not include expired rooms, locked ones, or paths that are not lookups', async (t) => {
    const { api, clock } = await startTestServer(t, missGuard);
    const expired = await api.room({ expiresIn: 60 });
    clock.advance(60 * second);
    const locked = await api.room({ pin: right }, { from: maker });
    for (let tries = 0; tries < 5; tries++) await api.get(`/api/rooms/${locked}`, { pin: wrong });
    for (let tries = 0; tries < 25; tries++) {
      assertError(await api.get(`/api/rooms/${expired}`), 410, 'ROOM_EXPIRED');
      assertError(await api.get(`/api/rooms/${locked}`, { pin: wrong }), 429, 'PIN_LOCKED');
      assertError(await api.get('/api/nothing'), 404, 'NOT_FOUND');
    }
    assert.equal((await api.get(`/api/rooms/${await api.room()}`)).status, 200);
  });

  it('[GUESS-4] end its lookups after the number that the operator sets, or never', async (t) => {
    const { api, restart } = await startTestServer(t, { ...missGuard, POPROOM_MISS_LIMIT: '3' });
    const miss = async (times: number) => {
      const responses: ApiResponse[] = [];
      for (let n = 0; n < times; n++) responses.push(await api.get(`/api/rooms/${unknown(n)}`));
      return tally(responses);
    };
    assert.deepEqual(await miss(5), { '404 ROOM_NOT_FOUND': 3, '429 RATE_LIMITED': 2 });
    await restart({ POPROOM_MISS_LIMIT: '0' });
    assert.deepEqual(await miss(50), { '404 ROOM_NOT_FOUND': 50 });
  });
});

describe('the counters of guesses', () => {
  it('[slow] [GUESS-5] survive a clean restart exactly', async (t) => {
    const { api, clock, restart } = await startTestServer(t, missGuard);
    const half = await api.room({ pin: right }, { from: maker });
    const locked = await api.room({ pin: right }, { from: maker });
    const shut = await api.room({ pin: right }, { from: maker });
    const at = (room: string) => guesser(api, room);
    for (let tries = 0; tries < 3; tries++) await at(half)(wrong, '192.0.2.10');
    for (let tries = 0; tries < 5; tries++) await at(locked)(wrong, '192.0.2.11');
    for (let n = 0; n < 50; n++) await at(shut)(wrong, `198.51.100.${n}`);
    for (let misses = 0; misses < 19; misses++) await api.get(`/api/rooms/${unknown(misses)}`);
    await restart();
    clock.advance(10 * second);
    assert.equal((await at(half)(wrong, '192.0.2.10')).json.error.details.triesLeft, 1);
    assertLocked(await at(locked)(right, '192.0.2.11'), 20);
    assertLocked(await at(shut)(right, '198.51.101.1'), 3590);
    assert.equal((await at(shut)(right, maker)).status, 200);
    assertError(await api.get(`/api/rooms/${unknown(0)}`), 404, 'ROOM_NOT_FOUND');
    const refused = await api.get(`/api/rooms/${unknown(0)}`);
    assertError(refused, 429, 'RATE_LIMITED');
    assert.equal(refused.headers.get('retry-after'), '3590');
  });
});

/** In another network for every third client. */
const addressIn = (hours: number, n: number) => `10.${n % 3 === 0 ? 1 + 30 * hours + n / 3 : 0}.${hours}.${n}`;

const maker = '192.0.2.200';
const stranger = '192.0.2.1';

/** Tries a PIN, or none, on a room. */
function guesser(api: TestServer['api'], room: string) {
  return (pin: string | undefined, from = stranger) => {
    const options: RequestOptions = { from, ...(pin !== undefined && { pin }) };
    return api.get(`/api/rooms/${room}`, options);
  };
}

function assertLocked(response: ApiResponse, seconds: number): void {
  assert.deepEqual(assertError(response, 429, 'PIN_LOCKED'), { retryAfter: seconds });
  assert.equal(response.headers.get('retry-after'), String(seconds));
}

const unknown = (n: number) => `ZZZZZZ${n.toString().padStart(4, '0')}`;

function tally(responses: ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of responses) {
    const kind = `${status} ${code ?? ''}`.trim();
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
