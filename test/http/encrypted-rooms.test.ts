/** Encrypted rooms: their creation, the key that every operation needs, and the guards of that key. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { openRoomName, sealDeviceName, sealRoomName } from '../../src/client/crypto/metadata.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { connect, joinRoom } from '../support/device.ts';
import { roomOperations } from '../support/room-operations.ts';
import { createSealedRoom, encryption, SealedReplica, type SealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { tus } from '../support/tus.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const wrongAuth = () => randomBytes(32).toString('base64url');
const maker = '203.0.113.1';

/** Operations that tests of all rooms do not have. */
const otherOperations: typeof roomOperations = [
  { name: 'history', run: (api, room, options) => api.get(`/api/rooms/${room}/history`, options), success: 200 },
  { name: 'clear', run: (api, room, options) => api.delete(`/api/rooms/${room}/history`, options), success: 200 },
  { name: 'ticket', run: (api, room, options) => api.post(`/api/rooms/${room}/tickets`, options), success: 201 },
  {
    name: 'compact',
    run: (api, room, options) =>
      api.post(`/api/rooms/${room}/content/compact`, { ...options, json: { content: 'x', version: 1 } }),
    success: 400,
  },
  {
    name: 'edit',
    run: (api, room, options) => api.patch(`/api/rooms/${room}/content`, { ...options, json: { append: 'x' } }),
    success: 400,
  },
  {
    name: 'start an upload',
    run: (api, room, options) =>
      api.post(`/api/rooms/${room}/uploads`, {
        ...options,
        headers: { ...tus, 'upload-length': '9', ...options?.headers },
      }),
    success: 400,
  },
  { name: 'events', run: (api, room, options) => api.call('HEAD', `/api/rooms/${room}/events`, options), success: 200 },
];

describe('creating an encrypted room', () => {
  it('[SEALED-1] needs a known scheme, exact lengths and no PIN', async (t) => {
    const { api } = await sharedServer(t);
    const valid = await encryption();
    const { json: created, status } = await api.post('/api/rooms', { json: { encryption: valid } });
    assert.equal(status, 201);
    assert.deepEqual([created.encrypted, created.hasPin], [true, false]);
    const bytes = (size: number) => randomBytes(size).toString('base64url');
    const invalid: object[] = [
      { ...valid, scheme: 'pop2' },
      { ...valid, salt: bytes(15) },
      { ...valid, salt: bytes(17) },
      { ...valid, salt: `${valid.salt.slice(0, -1)}B` },
      { ...valid, verifier: bytes(31) },
      { ...valid, verifier: bytes(33) },
      { ...valid, verifier: `${valid.verifier.slice(0, -1)}=` },
      { salt: valid.salt, verifier: valid.verifier },
      { ...valid, cost: 1 },
    ];
    for (const offered of invalid) {
      const response = await api.post('/api/rooms', { json: { encryption: offered } });
      assertError(response, 400, 'VALIDATION_FAILED', JSON.stringify(offered));
    }
    const withPin = await api.post('/api/rooms', { json: { encryption: valid, pin: '0427' } });
    assert.equal(assertError(withPin, 400, 'VALIDATION_FAILED').field, 'pin');
    const named = await api.post('/api/rooms', { json: { encryption: valid, name: 'Plans' } });
    assertError(named, 400, 'ENCRYPTION_REQUIRED');
    const plain = await api.post('/api/rooms');
    assert.ok(!('encrypted' in plain.json));
  });

  it('[SEALED-1] [SEALED-4] [SEALED-5] shows it everywhere, with a sealed name and never a PIN', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await createSealedRoom(api);
    const path = `/api/rooms/${room.code}`;
    const change = (json: object) => api.patch(path, { json, ...room.access });
    assertError(await change({ name: 'Plans' }), 400, 'ENCRYPTION_REQUIRED');
    assertError(await change({ name: 'pop1.AAAA' }), 400, 'ENCRYPTION_REQUIRED');
    assertError(await change({ name: sealRoomName(room, 'x'.repeat(400)) }), 400, 'VALIDATION_FAILED');
    for (const pin of ['0427', null]) assertError(await change({ pin }), 400, 'VALIDATION_FAILED');
    const longest = '🎉'.repeat(80);
    const { json: changed } = await change({ name: sealRoomName(room, longest) });
    assert.equal(openRoomName(room, changed.name), longest);
    const { json: info } = await api.get(path, room.access);
    assert.deepEqual([info.encrypted, info.hasPin, info.name], [true, false, changed.name]);
    const device = await joinRoom(t, url, room.code, { auth: room.auth });
    const { room: shown } = await device.next('snapshot');
    assert.deepEqual([shown.encrypted, shown.hasPin, shown.name], [true, false, changed.name]);
    assert.ok(!('name' in (await change({ name: null })).json));
    // A plain room does not accept the longer names of encrypted ones.
    const plain = await api.room();
    assertError(await api.patch(`/api/rooms/${plain}`, { json: { name: changed.name } }), 400, 'VALIDATION_FAILED');
  });
});

describe('the key of an encrypted room', () => {
  it('[SEALED-2] is needed for every operation, in a header', async (t) => {
    const { api } = await sharedServer(t);
    const room = await createSealedRoom(api);
    for (const { name, run } of [...otherOperations, ...roomOperations]) {
      const missing = await run(api, room.code);
      if (name === 'events') assert.equal(missing.status, 401);
      else {
        const details = assertError(missing, 401, 'KEY_REQUIRED', name);
        assert.deepEqual(details, { scheme: 'pop1', salt: room.salt });
      }
      assert.equal(missing.headers.get('www-authenticate'), 'RoomKey');
    }
    const path = `/api/rooms/${room.code}`;
    assertError(await api.get(`${path}?auth=${room.auth}&pin=0427`), 401, 'KEY_REQUIRED');
    for (const auth of ['', 'x', room.auth.slice(1), `${room.auth}A`, `${room.auth.slice(0, -1)}=`]) {
      assertError(await api.get(path, { headers: { 'x-room-auth': auth } }), 400, 'VALIDATION_FAILED', auth);
    }
    const wrong = await api.get(path, { headers: { 'x-room-auth': wrongAuth() } });
    assert.deepEqual(assertError(wrong, 403, 'KEY_INCORRECT'), { triesLeft: 4 });
    const last = roomOperations.at(-1);
    for (const { name, run, success } of otherOperations) {
      assert.equal((await run(api, room.code, room.access)).status, success, name);
    }
    assert.equal((await last?.run(api, room.code, room.access))?.status, 200);
    const plain = await api.room();
    assert.equal((await api.get(`/api/rooms/${plain}/content`, room.access)).status, 200, 'other rooms ignore it');
  });

  it('[SEALED-2] is needed to join, even with a resume token', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await createSealedRoom(api);
    const refused = async (joining: object, resumeToken?: string) => {
      const device = await connect(t, url, room.code, { resumeToken });
      device.send({ type: 'join', ...joining });
      const { error } = await device.next('error');
      await device.closed;
      return error;
    };
    assert.deepEqual((await refused({})).details, { scheme: 'pop1', salt: room.salt });
    assert.equal((await refused({ auth: wrongAuth() })).code, 'KEY_INCORRECT');
    assert.equal((await refused({ auth: 'x' })).code, 'VALIDATION_FAILED');
    const first = await joinRoom(t, url, room.code, { auth: room.auth });
    const { resumeToken = '' } = await first.next('snapshot');
    assert.equal((await refused({}, resumeToken)).code, 'KEY_REQUIRED');
    assert.equal((await refused({ auth: wrongAuth() }, resumeToken)).code, 'KEY_INCORRECT');
    const resumed = await joinRoom(t, url, room.code, { auth: room.auth }, { resumeToken });
    await resumed.next('snapshot');
    const events = await fetch(`${url}/api/rooms/${room.code}/events`, { headers: { 'x-resume-token': resumeToken } });
    assert.equal(events.status, 401);
    await events.body?.cancel();
  });

  it('[SEALED-3] is stored as a hash only, never sent, and allowed across origins', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api } = server;
    const room = await createSealedRoom(api);
    const stored = await (await inspectStore(server)).pinMac(room.code);
    const auth = Buffer.from(room.auth, 'base64url');
    assert.deepEqual(Buffer.from(stored), createHash('sha256').update(auth).digest());
    const everything = await (await inspectStore(server)).bytes();
    assert.ok(!everything.includes(auth) && !everything.includes(room.auth));
    const { verifier } = await encryption();
    for (const path of ['', '/content', '/files']) {
      const { text } = await api.get(`/api/rooms/${room.code}${path}`, room.access);
      assert.ok(!text.includes(room.auth) && !text.includes(verifier));
    }
    const allowed = (await api.call('OPTIONS', `/api/rooms/${room.code}`)).headers.get('access-control-allow-headers');
    for (const name of ['X-Room-Auth', 'X-File-Meta']) assert.ok(allowed?.split(', ').includes(name), name);
  });

  it('[SEALED-4] [GUESS-9] is locked for a client with wrong ones, but never the right one', async (t) => {
    const { api, url, clock } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api, { expiresIn: 604_800 }, { from: maker });
    const look = (auth: string, from: string) =>
      api.get(`/api/rooms/${room.code}`, { headers: { 'x-room-auth': auth }, from });
    const guesses = Array.from({ length: 40 }, () => look(wrongAuth(), '198.51.100.1'));
    assert.deepEqual(tally(await Promise.all(guesses)), { '403 KEY_INCORRECT': 5, '429 KEY_LOCKED': 35 });
    const locked = await look(wrongAuth(), '198.51.100.1');
    assert.ok(Number(locked.headers.get('retry-after')) > 0);
    assert.equal((await look(room.auth, '198.51.100.1')).status, 200, 'during the lock');
    for (let hours = 0; hours < 3; hours++) {
      for (let n = 0; n < 12; n++) {
        for (let tries = 0; tries < 4; tries++) await look(wrongAuth(), `10.${hours}.${n}.1`);
      }
      clock.advance(3_600_000);
    }
    for (const from of ['10.0.0.2', '10.0.0.1', '203.0.113.77', maker])
      assert.equal((await look(room.auth, from)).status, 200, from);
    // On the live channel, too.
    const join = (auth: string) => joinRoom(t, url, room.code, { auth });
    const refused = async () => (await (await join(wrongAuth())).next('error')).error.code;
    for (let tries = 0; tries < 5; tries++) assert.equal(await refused(), 'KEY_INCORRECT');
    assert.equal(await refused(), 'KEY_LOCKED');
    await (await join(room.auth)).next('snapshot');
  });

  it('[SEALED-4] counts as a miss of the client', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '3' });
    const room = await createSealedRoom(api, {}, { from: maker });
    const look = () => api.get(`/api/rooms/${room.code}`, { headers: { 'x-room-auth': wrongAuth() } });
    for (let n = 0; n < 3; n++) assertError(await look(), 403, 'KEY_INCORRECT');
    assertError(await look(), 429, 'RATE_LIMITED');
    assertError(await api.get(`/api/rooms/${room.code}`), 429, 'RATE_LIMITED');
    assert.equal((await api.get(`/api/rooms/${room.code}`, room.access)).status, 200, 'the right key');
    assertError(await api.get(`/api/rooms/${await api.room({}, { from: maker })}`, room.access), 429, 'RATE_LIMITED');
  });
});

describe('plaintext in an encrypted room', () => {
  it('[SEALED-5] is refused as a text, an edit and a name, and nothing is stored', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api } = server;
    const room = await createSealedRoom(api);
    const path = `/api/rooms/${room.code}/content`;
    const headers = { ...room.access.headers, 'if-match': '"0"' };
    const secret = 'plain secret';
    const replica = new SealedReplica(room);
    const { sealed } = replica.insert('x');
    const { content } = replica.replace('x');
    const wrongLengths = [`${content}AAAA`, content.slice(0, -4), 'pop1.', `pop1.${'A'.repeat(200)}`];
    for (const text of [secret, '', `${content}\n`, `Pop1${content.slice(4)}`, ...wrongLengths]) {
      assertError(await api.post(path, { json: { content: text }, headers }), 400, 'ENCRYPTION_REQUIRED', text);
    }
    const plainBody = await api.post(path, { body: secret, headers: { ...headers, 'content-type': 'text/plain' } });
    assertError(plainBody, 400, 'ENCRYPTION_REQUIRED');
    const edit = (json: object) => api.patch(path, { json, ...room.access });
    assertError(await edit({ append: secret }), 400, 'ENCRYPTION_REQUIRED');
    const edits = [{ from: 0, to: 0, insert: secret }];
    assertError(await edit({ edits, baseVersion: 0 }), 400, 'ENCRYPTION_REQUIRED');
    assertError(await edit({ edits, sealed, baseVersion: 0 }), 400, 'VALIDATION_FAILED');
    for (const text of [secret, `${sealed}A`, `${sealed}AAAA`]) {
      assertError(await edit({ sealed: text, baseVersion: 0 }), 400, 'ENCRYPTION_REQUIRED', text);
    }
    await assertEmpty(server, room, secret);
    // In a plain room, sealed text is text.
    const plain = await api.room();
    assert.equal((await api.post(`/api/rooms/${plain}/content`, { json: { content } })).json.content, content);
    assertError(
      await api.patch(`/api/rooms/${plain}/content`, { json: { sealed, baseVersion: 0 } }),
      400,
      'VALIDATION_FAILED',
    );
  });

  it('[SEALED-5] is refused on the live channel', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api, url } = server;
    const room = await createSealedRoom(api);
    const secret = 'plain secret';
    for (const deviceName of [secret, `pop1.${secret}`]) {
      const stranger = await joinRoom(t, url, room.code, { auth: room.auth, deviceId: 'd1', deviceName });
      assert.equal((await stranger.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    }
    const deviceName = sealDeviceName(room, 'd2', '🎉'.repeat(64));
    const device = await joinRoom(t, url, room.code, { auth: room.auth, deviceId: 'd2', deviceName });
    const { devices } = await device.next('snapshot');
    assert.deepEqual(devices, [{ deviceId: 'd2', deviceName }]);
    device.send({ type: 'content', content: secret, baseVersion: 0 });
    assert.equal((await device.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    device.send({ type: 'edit', edits: [{ from: 0, to: 0, insert: secret }], baseVersion: 0 });
    assert.equal((await device.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    device.send({ type: 'sealed-edit', sealed: secret, baseVersion: 0, ref: 'r' });
    const { error, ref } = await device.next('error');
    assert.deepEqual([error.code, ref], ['ENCRYPTION_REQUIRED', 'r']);
    const events = `${url}/api/rooms/${room.code}/events?deviceName=${encodeURIComponent(secret)}`;
    assert.equal((await fetch(events, { headers: room.access.headers })).status, 400);
    // Names of plain rooms keep their limit.
    const plain = await joinRoom(t, url, await api.room(), { deviceName: 'x'.repeat(65) });
    assert.equal((await plain.next('error')).error.code, 'VALIDATION_FAILED');
    await device.leave();
    await assertEmpty(server, room, secret);
  });
});

async function assertEmpty(server: TestServer, room: SealedRoom, secret: string): Promise<void> {
  const { json: text } = await server.api.get(`/api/rooms/${room.code}/content`, room.access);
  assert.deepEqual([text.content, text.version, text.contentVersion, text.sealedEdits], ['', 0, 0, []]);
  assert.ok(!(await (await inspectStore(server)).bytes()).includes(secret));
}

function tally(responses: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of responses) {
    const key = `${status} ${code}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
