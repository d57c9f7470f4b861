/** Rooms that are changed: when they expire, their PIN and their name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore, type StoredCounts } from '../support/store-inspector.ts';

const second = 1000;
const hour = 3600 * second;
const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const sweepsOften = { sweepEveryMs: 10 };
const longName = 'ü👍'.repeat(40);

describe('a change of a room', () => {
  it('[CHANGE-1] [ERR-2] with wrong input changes nothing, and the error names the field', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await api.room({ pin: '0427', name: 'Office' });
    const at = `/api/rooms/${room}`;
    const before = (await api.get(at, { pin: '0427' })).json;
    const wrong: [string | undefined, object][] = [
      [undefined, {}],
      ...[0, -60, 59, 604_801, 60.5, '3600', null, true, [60]].map(
        (expiresIn) => ['expiresIn', { expiresIn }] as [string, object],
      ),
      ...['123', '12345', '', 'abcd', '١٢٣٤', 1234, true, ['1234']].map((pin) => ['pin', { pin }] as [string, object]),
      ...[`${longName}x`, 'x'.repeat(81), 12, false, ['x'], {}].map((name) => ['name', { name }] as [string, object]),
      ['history', { history: false }],
      ['content', { name: 'x', content: 'y' }],
    ];
    for (const [field, json] of wrong) {
      const details = assertError(await api.patch(at, { pin: '0427', json }), 400, 'VALIDATION_FAILED');
      assert.equal(details?.field, field, JSON.stringify(json));
    }
    const empty = await api.patch(at, { pin: '0427', json: {} });
    assert.equal(empty.json.error.message, 'Send at least one of "expiresIn", "extend", "pin" and "name".');
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"expiresIn": NaN}', '{"name": ', '']) {
      const expected = body === '' ? 'VALIDATION_FAILED' : 'INVALID_JSON';
      assertError(await api.patch(at, { pin: '0427', body, headers }), 400, expected);
    }
    assertError(await api.patch(at, { pin: '0427', body: '{"expiresIn": 1e999}', headers }), 400, 'VALIDATION_FAILED');
    assertError(await api.patch(at, { pin: '0427', body: 'name=x' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    // One wrong field rejects the whole change.
    assertError(await api.patch(at, { pin: '0427', json: { name: 'x', pin: '12' } }), 400, 'VALIDATION_FAILED');
    assert.deepEqual((await api.get(at, { pin: '0427' })).json, before);
  });

  it('[CHANGE-1] changes only what it names, and returns the room information', async (t) => {
    const { api, clock } = await startTestServer(t);
    const room = await api.room({ pin: '0427', expiresIn: 7200 });
    const at = `/api/rooms/${room}`;
    await api.post(`${at}/content`, { pin: '0427', json: { content: 'text' } });
    const before = (await api.get(at, { pin: '0427' })).json;
    const named = await api.patch(at, { pin: '0427', json: { name: 'Office' } });
    assert.equal(named.status, 200);
    assert.deepEqual(named.json, { ...before, name: 'Office' });
    clock.advance(60 * second);
    const extended = (await api.patch(`${at}?pin=0427`, { json: { expiresIn: 3600 } })).json;
    assert.deepEqual(extended, { ...named.json, expiresAt: new Date(clock.now + hour).toISOString() });
    assert.deepEqual((await api.get(at, { pin: '0427' })).json, extended);
    assert.equal((await api.get(`${at}/content`, { pin: '0427' })).json.content, 'text');
  });

  it('[CHANGE-1] [RATE-3] [PIN-2] counts as a request, and needs the PIN outside of the body', async (t) => {
    const { api } = await startTestServer(t);
    const room = await api.room({ pin: '0427' });
    const at = `/api/rooms/${room}`;
    const left = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'));
    const first = await api.patch(at, { pin: '0427', json: { name: 'Office' } });
    const next = await api.patch(at, { json: { pin: '0427' } });
    assertError(next, 401, 'PIN_REQUIRED');
    assert.equal(left(next), left(first) - 1);
    const guess = await api.patch(at, { pin: '1111', json: { pin: null } });
    assert.equal(assertError(guess, 403, 'PIN_INCORRECT').triesLeft, 4);
    assert.equal((await api.get(at, { pin: '0427' })).json.hasPin, true);
  });

  it('[CHANGE-3] sets a name without control characters and direction overrides, and removes it', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const created = await api.post('/api/rooms', { json: { name: '  Küche\n\u202E🍳 ' } });
    assert.equal(created.json.name, 'Küche🍳');
    const at = `/api/rooms/${created.json.roomId}`;
    assert.equal((await api.get(at)).json.name, 'Küche🍳');
    for (const [name, stored] of [
      [longName, longName],
      [`\u0000\u0007${longName}\u2066\uFEFF`, longName],
      ['a/b\\c <b>"x"</b>', 'a/b\\c <b>"x"</b>'],
      ['', undefined],
      ['kept', 'kept'],
      ['\n\t\u200F ', undefined],
      ['kept', 'kept'],
      [null, undefined],
    ]) {
      const { json } = await api.patch(at, { json: { name } });
      assert.equal(json.name, stored, JSON.stringify(name));
      assert.equal('name' in json, stored !== undefined);
      assert.deepEqual((await api.get(at)).json, json);
    }
    assert.equal('name' in (await api.post('/api/rooms', { json: { name: '' } })).json, false);
    const tooLong = await api.post('/api/rooms', { json: { name: 'x'.repeat(81) } });
    assert.deepEqual(assertError(tooLong, 400, 'VALIDATION_FAILED'), { field: 'name', maximum: 80 });
  });
});

describe('the lifetime of a changed room', () => {
  it('[CHANGE-2] is extended from now, with its text and files, and any number of times', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited, sweepsOften);
    const room = await api.room({ expiresIn: 60 });
    const at = `/api/rooms/${room}`;
    await api.post(`${at}/content`, { json: { content: 'kept' } });
    const { fileUrl } = (await api.upload(room, 'a.txt', 'kept too')).json;
    for (let times = 0; times < 3; times++) {
      clock.advance(59 * second);
      const { json } = await api.patch(at, { json: { expiresIn: 60 } });
      assert.equal(Date.parse(json.expiresAt), clock.now + 60 * second);
    }
    assert.equal((await api.get(`${at}/content`)).json.content, 'kept');
    assert.equal((await api.get(new URL(fileUrl).pathname)).text, 'kept too');
    clock.advance(60 * second);
    for (const attempt of [api.get(at), api.patch(at, { json: { expiresIn: 3600 } })]) {
      assertError(await attempt, 410, 'ROOM_EXPIRED');
    }
    assert.equal((await api.get(new URL(fileUrl).pathname)).status, 404);
  });

  it('[CHANGE-2] is shortened, at most to a minute, and the room is removed then', async (t) => {
    const server = await startTestServer(t, unlimited, sweepsOften);
    const { api, clock } = server;
    const room = await api.room({ expiresIn: 7200 });
    const at = `/api/rooms/${room}`;
    await api.upload(room, 'a.txt', 'abc');
    await api.patch(at, { json: { expiresIn: 60 } });
    clock.advance(60 * second);
    assertError(await api.get(at), 410, 'ROOM_EXPIRED');
    const { counts } = await inspectStore(server);
    const isEmpty = ({ rooms, files, trash }: StoredCounts) => rooms + files + trash === 0;
    await eventually('the sweep removes it', async () => isEmpty(await counts()));
    assertError(await api.patch(at, { json: { expiresIn: 60 } }), 410, 'ROOM_EXPIRED');
    clock.advance(24 * hour);
    assertError(await api.patch(at, { json: { expiresIn: 60 } }), 404, 'ROOM_NOT_FOUND');
  });

  it('[CHANGE-2] is at most the configured maximum, and the same after a restart', async (t) => {
    const settings = { ...unlimited, POPROOM_ROOM_TTL: '1h', POPROOM_ROOM_MAX_TTL: '2h' };
    const { api, clock, restart } = await startTestServer(t, settings);
    const room = await api.room();
    const at = `/api/rooms/${room}`;
    const tooLong = await api.patch(at, { json: { expiresIn: 7201 } });
    const bounds = { field: 'expiresIn', minimum: 60, maximum: 7200 };
    assert.deepEqual(assertError(tooLong, 400, 'VALIDATION_FAILED'), bounds);
    const { json } = await api.patch(at, { json: { expiresIn: 7200, name: 'Office', pin: '0427' } });
    await restart();
    clock.advance(2 * hour - 1);
    assert.deepEqual((await api.get(at, { pin: '0427' })).json, json);
  });

  it('[CHANGE-2] [TUS-7] is also that of an unfinished upload', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited);
    const room = await api.room({ expiresIn: 3600 });
    const tus = { 'tus-resumable': '1.0.0' };
    const started = await api.post(`/api/rooms/${room}/uploads`, { headers: { ...tus, 'upload-length': '5' } });
    const upload = new URL(started.headers.get('location') ?? '').pathname;
    const ends = async () =>
      Date.parse((await api.call('HEAD', upload, { headers: tus })).headers.get('upload-expires') ?? '') - clock.now;
    assert.ok(Math.abs((await ends()) - hour) <= second);
    await api.patch(`/api/rooms/${room}`, { json: { expiresIn: 600 } });
    assert.ok(Math.abs((await ends()) - 600 * second) <= second);
    await api.patch(`/api/rooms/${room}`, { json: { expiresIn: 604_800 } });
    assert.ok(Math.abs((await ends()) - 24 * hour) <= second);
  });
});

describe('the PIN of a changed room', () => {
  it('[CHANGE-4] is set, changed and removed for all later requests', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const at = `/api/rooms/${room}`;
    assert.equal((await api.patch(at, { json: { pin: '0427' } })).json.hasPin, true);
    assertError(await api.get(at), 401, 'PIN_REQUIRED');
    assertError(await api.patch(at, { json: { pin: null } }), 401, 'PIN_REQUIRED');
    assert.equal((await api.patch(at, { pin: '0427', json: { pin: '8642' } })).status, 200);
    assertError(await api.get(at, { pin: '0427' }), 403, 'PIN_INCORRECT');
    assert.equal((await api.get(at, { pin: '8642' })).status, 200);
    assert.equal((await api.patch(at, { pin: '8642', json: { pin: null } })).json.hasPin, false);
    assert.equal((await api.get(at)).status, 200);
  });

  it('[CHANGE-4] [GUESS-2] [GUESS-6] ends the locks of the room when it changes', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await api.room({ pin: '0427' }, { from: '10.9.0.1' });
    const at = `/api/rooms/${room}`;
    const guess = (from: string) => api.get(at, { pin: '1111', from });
    for (let n = 0; n < 5; n++) await guess('10.1.0.1');
    for (let n = 0; n < 50; n++) await guess(`10.2.0.${n}`);
    assertError(await api.get(at, { pin: '0427', from: '10.1.0.1' }), 429, 'PIN_LOCKED');
    assertError(await api.get(at, { pin: '0427', from: '10.2.1.1' }), 429, 'PIN_LOCKED');
    assert.equal((await api.patch(at, { pin: '0427', from: '10.9.0.1', json: { pin: '8642' } })).status, 200);
    for (const from of ['10.1.0.1', '10.2.1.1']) assert.equal((await api.get(at, { pin: '8642', from })).status, 200);
    const details = assertError(await api.get(at, { pin: '0427', from: '10.2.2.2' }), 403, 'PIN_INCORRECT');
    assert.equal(details.triesLeft, 4);
  });

  it('[CHANGE-5] is changed by one of 10 concurrent requests, and the others are rejected', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await api.room({ pin: '0427' });
    const at = `/api/rooms/${room}`;
    const pins = Array.from({ length: 10 }, (_, n) => `600${n}`);
    const send = (pin: string, n: number) => api.patch(at, { pin: '0427', from: `10.0.${n}.1`, json: { pin } });
    const responses = await Promise.all(pins.map(send));
    const winners = pins.filter((_, n) => responses[n]?.status === 200);
    assert.equal(winners.length, 1);
    for (const response of responses.filter(({ status }) => status !== 200)) {
      assertError(response, 403, 'PIN_INCORRECT');
    }
    assert.equal((await api.get(at, { pin: winners[0] ?? '', from: '10.1.0.1' })).status, 200);
  });

  it('[CHANGE-5] is not lost to a deletion or an expiry at the same time', async (t) => {
    const { api, clock } = await startTestServer(t, unlimited);
    for (let n = 0; n < 5; n++) {
      const at = `/api/rooms/${await api.room({ expiresIn: 60 })}`;
      const [changed, deleted] = await Promise.all([api.patch(at, { json: { expiresIn: 3600 } }), api.delete(at)]);
      assert.equal(deleted.status, 200);
      assert.ok([200, 404].includes(changed.status), changed.text);
      assertError(await api.get(at), 404, 'ROOM_NOT_FOUND');
    }
    const at = `/api/rooms/${await api.room({ expiresIn: 60 })}`;
    clock.advance(60 * second - 1);
    const changing = api.patch(at, { json: { expiresIn: 3600 } });
    clock.advance(1);
    const { status } = await changing;
    assert.equal((await api.get(at)).status, status, `the change returned ${status}`);
  });

  it('[CHANGE-4] [PIN-5] [PIN-6] is neither in the store nor in the log', async (t) => {
    const server = await startTestServer(t, { ...unlimited, POPROOM_METRICS: 'true', POPROOM_LOG_LEVEL: 'debug' });
    const { api } = server;
    const room = await api.room({ pin: '5319' });
    const at = `/api/rooms/${room}`;
    const store = await inspectStore(server);
    const before = await store.pinMac(room);
    const changed = await api.patch(at, { pin: '5319', json: { pin: '7264', name: 'a name nobody writes down' } });
    assert.ok(!/5319|7264/.test(changed.text.replaceAll(room, '')));
    assert.notDeepEqual(await store.pinMac(room), before);
    const values = await store.values();
    // Not within a random id or the prefix of the keys.
    for (const pin of ['5319', '7264']) assert.ok(!new RegExp(`(?<![\\w-])${pin}(?![\\w-])`).test(values), pin);
    // Searches them for everything that this test has sent.
    await api.get('/metrics');
    await assertLogIsClean(server);
  });
});

async function assertLogIsClean(server: TestServer): Promise<void> {
  await server.stop();
  assert.match(server.logged(), /"method":"PATCH"/);
  assert.ok(!server.logged().includes('a name nobody writes down'));
}
