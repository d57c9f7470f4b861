/** PINs: their form, how they are sent, what they protect, and where they never appear. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { roomOperations } from '../support/room-operations.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const right = '0427';
const wrong = '9138';
const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('a PIN', () => {
  it('[PIN-1] is a string of four ASCII digits when a room is created', async (t) => {
    const { api } = await sharedServer(t);
    for (const pin of ['0000', '0427', '9999']) {
      assert.equal((await api.post('/api/rooms', { json: { pin } })).json.hasPin, true);
    }
    const others = [427, 1234, null, true, ['1234'], { pin: '1234' }, '', '427', '12345', '12a4', ' 1234', '1234\n'];
    for (const pin of [...others, '1 34', '-123', '1e10', '١٢٣٤', '１２３４', '𝟏𝟐𝟑𝟒', '123\u0000']) {
      const response = await api.post('/api/rooms', { json: { pin } });
      assert.equal(assertError(response, 400, 'VALIDATION_FAILED', JSON.stringify(pin)).field, 'pin');
    }
  });

  it('[PIN-1] must be one in requests, too, in every place', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    const path = `/api/rooms/${room}/content`;
    for (const pin of ['427', '12345', 'abcd', '', '04 27']) {
      const ways = [
        await api.get(path, { pin }),
        await api.get(`${path}?pin=${encodeURIComponent(pin)}`),
        await api.post(path, { json: { content: 'x', pin } }),
        await uploadForm(api, room, pin),
      ];
      for (const response of ways) assert.equal(assertError(response, 400, 'VALIDATION_FAILED', pin).field, 'pin');
    }
    assertError(await api.post(path, { json: { content: 'x', pin: 427 } }), 400, 'VALIDATION_FAILED');
    assertError(await api.get(`${path}?pin=%D9%A1%D9%A2%D9%A3%D9%A4`), 400, 'VALIDATION_FAILED');
  });

  it('[PIN-2] is checked every time, also after the right one was given often and after it was changed', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    const path = `/api/rooms/${room}/content`;
    const readOften = async (pin: string) => {
      for (let n = 0; n < 3; n++) assert.equal((await api.get(path, { pin })).status, 200);
    };
    await readOften(right);
    assertError(await api.get(path, { pin: wrong }), 403, 'PIN_INCORRECT');
    assertError(await api.get(path), 401, 'PIN_REQUIRED');
    await readOften(right);
    assert.equal((await api.patch(`/api/rooms/${room}`, { json: { pin: wrong }, pin: right })).status, 200);
    assertError(await api.get(path, { pin: right }), 403, 'PIN_INCORRECT');
    await readOften(wrong);
  });

  it('[PIN-2] is required by a protected room for every operation', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    for (const { name, run } of roomOperations) {
      assertError(await run(api, room), 401, 'PIN_REQUIRED', name);
      const details = assertError(await run(api, room, { pin: wrong }), 403, 'PIN_INCORRECT', name);
      assert.equal(details.triesLeft, 4);
      assert.equal((await api.get(`/api/rooms/${room}`, { pin: right })).status, 200);
    }
    for (const { name, run, success } of roomOperations) {
      assert.equal((await run(api, room, { pin: right })).status, success, name);
    }
  });

  it('[PIN-2] prevents a write and a removal if it is missing', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    for (const sending of [{}, { pin: wrong }]) {
      for (const { run } of roomOperations) await run(api, room, sending);
    }
    const { json, headers } = await api.get(`/api/rooms/${room}/content`, { pin: right, from: '192.0.2.9' });
    assert.equal(json.content, '');
    assert.equal(headers.get('etag'), '"0"');
    assert.deepEqual((await api.get(`/api/rooms/${room}/files`, { pin: right, from: '192.0.2.9' })).json.files, []);
  });

  it('[PIN-3] is accepted in a header, in the query, in a JSON body, or in a form before the file', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    const path = `/api/rooms/${room}`;
    assert.equal((await api.get(path, { pin: right })).status, 200);
    assert.equal((await api.get(`${path}?pin=${right}`)).status, 200);
    assert.equal((await api.post(`${path}/content`, { json: { content: 'x', pin: right } })).status, 200);
    assert.equal((await uploadForm(api, room, right)).status, 201);
    const { fileId } = (await api.get(`${path}/files?pin=${right}`)).json.files[0];
    assert.equal((await api.delete(`${path}/files/${fileId}`, { json: { pin: right } })).status, 200);
    assert.equal((await api.delete(path, { json: { pin: right } })).status, 200);
  });

  it('[PIN-3] is used from the header first, then from the query, then from the body', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    const send = (header: string | undefined, query: string | undefined, body: string) =>
      api.post(`/api/rooms/${room}/content${query === undefined ? '' : `?pin=${query}`}`, {
        json: { content: 'x', pin: body },
        ...(header !== undefined && { pin: header }),
      });
    assert.equal((await send(right, wrong, wrong)).status, 200);
    assert.equal((await send(undefined, right, wrong)).status, 200);
    assertError(await send(wrong, right, right), 403, 'PIN_INCORRECT');
    assertError(await send(undefined, wrong, right), 403, 'PIN_INCORRECT');
    assertError(await send('42', right, right), 400, 'VALIDATION_FAILED');
  });

  it('[PIN-3] is used from the header before the form, and not after the file', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: right });
    assert.equal((await uploadForm(api, room, wrong, { pin: right })).status, 201);
    assertError(await uploadForm(api, room, right, { pin: wrong }), 403, 'PIN_INCORRECT');
    const late = form(filePart('abc'), field('pin', right));
    const response = await api.post(`/api/rooms/${room}/upload`, { body: late, headers: { 'content-type': formType } });
    assertError(response, 401, 'PIN_REQUIRED');
  });

  it('[PIN-4] is ignored by a room without one', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    for (const { name, run, success } of roomOperations) {
      assert.equal((await run(api, room, { pin: wrong })).status, success, name);
    }
  });
});

describe('the secrecy of a PIN', () => {
  it('[PIN-5] is preserved in every response and the log, wherever it was sent', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api } = server;
    const pins = { right: '7351', wrong: '8462', late: '9573', nonsense: '61728' };
    const responses: ApiResponse[] = [await api.post('/api/rooms', { json: { pin: pins.right } })];
    const room = responses[0]?.json.roomId;
    for (const pin of Object.values(pins)) {
      for (const path of [`/api/rooms/${room}`, `/api/rooms/${room}/content`, `/api/rooms/${room}/nothing`, '/livez']) {
        responses.push(await api.get(path, { pin }), await api.get(`${path}?pin=${pin}&also=${pin}`));
        responses.push(await api.post(`${path}?pin=${pin}`, { json: { content: 'x', pin } }));
        responses.push(
          await api.post(path, { body: `{"pin":"${pin}"`, headers: { 'content-type': 'application/json' } }),
        );
      }
      responses.push(await uploadForm(api, room, pin), await api.delete(`/api/rooms/7KQ2MX?pin=${pin}`));
    }
    responses.push(await api.delete(`/api/rooms/${room}`, { json: { pin: pins.right }, from: '192.0.2.9' }));
    assert.equal(responses.at(-1)?.status, 200);
    const answered = responses.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n');
    const said = withoutChance(answered.replaceAll(server.url, '').replaceAll(room, ''));
    for (const pin of Object.values(pins)) {
      assert.ok(!said.includes(pin), `${pin} was answered`);
      assert.ok(!withoutChance(server.logged()).includes(pin), `${pin} was logged`);
    }
    assert.ok(!server.logged().includes('pin='));
    assert.ok(!server.logged().includes('also='));
  });

  it('[PIN-6] is preserved in the store: no PIN, and no plain hash of one', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const room = await api.room({ pin: '7351' });
    await api.get(`/api/rooms/${room}`, { pin: '8462' });
    await api.get(`/api/rooms/${room}`, { pin: '7351' });
    const store = await inspectStore(server);
    const mac = await store.pinMac(room);
    assert.equal(mac.length, 32);
    await server.stop();
    const bytes = await store.bytes();
    const holds = (hash: Buffer) => bytes.includes(hash) || bytes.includes(hash.toString('hex'));
    assert.ok(holds(mac));
    for (const pin of ['7351', '8462']) {
      for (const salt of ['', room]) {
        const plain = createHash('sha256').update(salt + pin);
        assert.ok(!holds(plain.digest()));
      }
      // Not within the code of the room or the prefix of its keys, which are random.
      assert.doesNotMatch(
        await store.values(),
        new RegExp(`(?<![\\w-])${pin}(?![\\w-])`),
        `${pin} stands in the store`,
      );
    }
  });

  it('[PIN-6] depends on a secret outside the store: with another, the PIN is rejected', async (t) => {
    const server = await startTestServer(t, {}, { acceptNewSecret: true });
    const { api, restart } = server;
    const room = await api.room({ pin: right });
    const secret = await secretOf(server);
    assert.ok(!(await (await inspectStore(server)).bytes()).includes(secret));
    await restart({ POPROOM_SECRET: 'another secret than before' });
    assertError(await api.get(`/api/rooms/${room}`, { pin: right }), 403, 'PIN_INCORRECT');
    await restart({ POPROOM_SECRET: secret });
    assert.equal((await api.get(`/api/rooms/${room}`, { pin: right })).status, 200);
  });

  it('[PIN-6] includes that two rooms have the same', async (t) => {
    const server = await startTestServer(t);
    const [one, other] = [await server.api.room({ pin: right }), await server.api.room({ pin: right })];
    const { pinMac } = await inspectStore(server);
    assert.notDeepEqual(await pinMac(one), await pinMac(other));
  });
});

function uploadForm(api: TestServer['api'], room: string, pin: string, sending: { pin?: string } = {}) {
  const body = form(field('pin', pin), filePart('abc'));
  return api.post(`/api/rooms/${room}/upload`, { ...sending, body, headers: { 'content-type': formType } });
}

/** Ids, hashes, times and durations may contain any four digits by chance. */
function withoutChance(text: string): string {
  return text
    .replace(/"x-request-id","[^"]*"/g, '')
    .replace(/"requestId":"[^"]*"/g, '')
    .replace(/"(x-ratelimit-reset|date|retry-after)","[^"]*"/g, '')
    .replace(/\b[0-9a-f]{32}\b/g, '')
    .replace(/"client":"[0-9a-f]{12}"/g, '')
    .replace(/"ms":[\d.]+/g, '');
}

/** Where the operator names none, the server makes one and keeps it in its folder. */
async function secretOf({ settings, folder }: TestServer): Promise<string> {
  return settings.POPROOM_SECRET ?? (await readFile(join(folder, 'secret'), 'utf8')).trim();
}
