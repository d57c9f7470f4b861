/** Errors of the SDK, and the limits of the server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ConflictDetails, createClient, PoproomError } from '../../src/client/index.ts';
import { breakStore } from '../support/break-store.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startUnfinishedResponse } from '../support/unfinished-response.ts';
import { startCaptivePortal } from './captive-portal.ts';

describe('an error of the SDK', () => {
  it('[SDK-1] has the code, the sentence and the details of the server', async (t) => {
    const { url, api } = await sharedServer(t);
    const error = await failure(createClient({ url }).createRoom({ expiresIn: 1 }));
    const said = (await api.post('/api/rooms', { json: { expiresIn: 1 } })).json.error;
    assert.equal(error.code, 'VALIDATION_FAILED');
    assert.equal(error.message, said.message);
    assert.deepEqual(error.details, said.details ?? {});
  });

  it('[SDK-1] matches its request: a file, a room, a PIN', async (t) => {
    const { url, api } = await sharedServer(t);
    const client = createClient({ url });
    const code = await api.room({ pin: '1234' });
    assert.equal((await failure(client.room('ZZZZZZ').delete())).code, 'ROOM_NOT_FOUND');
    assert.equal((await failure(client.room(code).delete())).code, 'PIN_REQUIRED');
    const wrong = await failure(client.room(code, { pin: '0000' }).delete());
    assert.equal(wrong.code, 'PIN_INCORRECT');
    assert.equal(wrong.details.triesLeft, 4);
    const missing = client.room(code, { pin: '1234' }).removeFile('00000000000000000000000000000000');
    assert.equal((await failure(missing)).code, 'FILE_NOT_FOUND');
    assert.equal((await client.room(code, { pin: '1234' }).delete()).success, true);
  });

  it('[SDK-1] has the seconds until a retry', async (t) => {
    const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const client = createClient({ url });
    await client.createRoom();
    const error = await failure(client.createRoom());
    assert.equal(error.code, 'RATE_LIMITED');
    assert.ok(error.retryAfter && error.retryAfter > 3_500 && error.retryAfter <= 3_600, String(error.retryAfter));
  });

  it('[SDK-23] has the status and the id of the request, and the details of its code', async (t) => {
    const { url } = await sharedServer(t);
    const client = createClient({ url });
    for (const request of [{ pin: '0427' }, { encrypted: true }]) {
      const room = await client.createRoom(request);
      const { version } = await room.write('theirs');
      const error = await failure(room.write('mine', { baseVersion: version - 1 }));
      // The compiler knows the types of these details.
      assert.ok(error.code === 'VERSION_CONFLICT');
      const details: ConflictDetails = error.details;
      const { timestamp, ...conflict } = details;
      assert.deepEqual(conflict, { version, content: 'theirs' });
      assert.ok(Date.parse(timestamp ?? '') > 0);
      assert.equal((await room.write('mine', { baseVersion: error.details.version })).version, version + 1);
    }
    const missing = await failure(client.room('ZZZZZZ').read());
    assert.equal(missing.status, 404);
    assert.match(missing.requestId ?? '', /^[\w-]{8,}$/);
  });

  it('[SDK-23] has no details of another type than documented: such an error is not from a server', async (t) => {
    const errors: [string, object | undefined][] = [
      ['VERSION_CONFLICT', { version: 'seven' }],
      ['VERSION_CONFLICT', { content: 'x' }],
      ['VERSION_CONFLICT', undefined],
      ['VERSION_CONFLICT', { version: 1, content: 7 }],
      ['UPLOAD_CONFLICT', { offset: -1 }],
      ['RATE_LIMITED', { retryAfter: 'soon' }],
      ['PIN_INCORRECT', { triesLeft: null }],
    ];
    for (const [code, details] of errors) {
      const body = JSON.stringify({ error: { code, message: 'x', details } });
      const url = `http://127.0.0.1:${await startCaptivePortal(t, 412, { body })}`;
      const error = await failure(createClient({ url }).createRoom());
      assert.deepEqual([error.code, error.status], ['INVALID_RESPONSE', 412], body);
    }
  });

  it('[SDK-1] has the seconds for a date in Retry-After, and none for an invalid value', async (t) => {
    const secondsFor = async (retryAfter: string, date = new Date()) => {
      const headers = { 'Retry-After': retryAfter, Date: date.toUTCString() };
      const url = `http://127.0.0.1:${await startCaptivePortal(t, 503, { headers })}`;
      return (await failure(createClient({ url }).createRoom())).retryAfter;
    };
    const itsClock = new Date('2020-01-15T09:30:00Z');
    assert.equal(await secondsFor('Wed, 15 Jan 2020 09:32:00 GMT', itsClock), 120, 'by the clock of who says so');
    assert.equal(await secondsFor('Wed, 15 Jan 2020 09:29:00 GMT', itsClock), 0);
    for (const nonsense of ['soon', '', '-5', '1e9']) assert.equal(await secondsFor(nonsense), undefined, nonsense);
  });

  it('[SDK-1] is OFFLINE if the server cannot be reached', async (t) => {
    const server = await startTestServer(t);
    const { url } = server;
    await server.stop();
    const error = await failure(createClient({ url }).room('7KQ2MX', { pin: '0427' }).read());
    assert.deepEqual([error.code, error.message], ['OFFLINE', `The server at ${url} cannot be reached.`]);
  });

  it('[SDK-35] is not OFFLINE for a bug or a missing feature of the runtime', async (t) => {
    const { url } = await sharedServer(t);
    const wrongHeader = createClient({ url, apiKey: 'pop_ключ' });
    await assert.rejects(wrongHeader.createRoom(), (error) => error instanceof TypeError);
    const { fetch } = globalThis;
    t.after(() => Object.assign(globalThis, { fetch }));
    Reflect.deleteProperty(globalThis, 'fetch');
    await assert.rejects(createClient({ url }).createRoom(), {
      name: 'ReferenceError',
      message: 'fetch is not defined',
    });
  });

  it('[SDK-1] is OFFLINE if the connection breaks within a response', async (t) => {
    for (const status of [200, 500]) {
      const server = await startUnfinishedResponse(t, status);
      const room = createClient({ url: server.url }).room('7KQ2MX');
      const calls = [room.read(), room.info(), room.write('x')].map(failure);
      await eventually('all have begun', () => server.responses === 3);
      server.disconnect();
      assert.deepEqual(
        (await Promise.all(calls)).map(({ code }) => code),
        ['OFFLINE', 'OFFLINE', 'OFFLINE'],
      );
    }
  });

  it('[SDK-1] has the same class if a proxy responds instead of the server', async (t) => {
    for (const [status, code] of [
      [502, 'UNAVAILABLE'],
      [403, 'INVALID_RESPONSE'],
      [200, 'INVALID_RESPONSE'],
    ] as const) {
      const url = `http://127.0.0.1:${await startCaptivePortal(t, status)}`;
      assert.equal((await failure(createClient({ url }).createRoom())).code, code, `for ${status}`);
    }
  });

  it('[SDK-1] has a code and a message for any response of a proxy', async (t) => {
    const odd = ['{"error":"Bad Gateway"}', '{"error":{"code":7,"message":"x"}}', '{"error":{"code":"X"}}', 'null'];
    for (const body of [...odd, '{"error":{"code":"X","message":"x","details":null}}']) {
      const url = `http://127.0.0.1:${await startCaptivePortal(t, 502, { body })}`;
      const error = await failure(createClient({ url }).createRoom());
      assert.deepEqual([error.code, error.details], ['UNAVAILABLE', { status: 502 }], body);
      assert.match(error.message, /status 502/);
    }
    for (const body of ['null', '7', '[]']) {
      const url = `http://127.0.0.1:${await startCaptivePortal(t, 200, { body })}`;
      assert.equal((await failure(createClient({ url }).createRoom())).code, 'INVALID_RESPONSE', body);
    }
  });
});

describe('the health of a server', () => {
  it('[SDK-1] is returned without an error, even if the server is unhealthy', async (t) => {
    const server = await startTestServer(t);
    const client = createClient({ url: server.url });
    assert.equal((await client.health()).status, 'healthy');
    await breakStore(server);
    assert.equal((await client.health()).status, 'degraded');
  });
});

describe('the rate limits in the SDK', () => {
  it('[SDK-2] are those of the last response, by the clock of this device', async (t) => {
    const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '5' });
    const client = createClient({ url });
    const known = () => client.rateLimit;
    assert.equal(known(), undefined);
    await client.createRoom();
    assert.equal(known()?.limit, 5);
    assert.equal(known()?.remaining, 4);
    await failure(client.room('ZZZZZZ').delete());
    assert.equal(known()?.remaining, 3, 'an error tells them too');
    const ms = Number(known()?.resetAt) - Date.now();
    assert.ok(Math.abs(ms - 3_600_000) < 10_000, `${ms} ms`);
  });

  it('[SDK-2] are undefined if there is no limit', async (t) => {
    const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const client = createClient({ url });
    await client.createRoom();
    assert.equal(client.rateLimit, undefined);
  });
});

async function failure(request: Promise<unknown>): Promise<PoproomError> {
  const error = await request.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );
  assert.ok(error instanceof PoproomError, `${error} is of the class`);
  return error;
}
