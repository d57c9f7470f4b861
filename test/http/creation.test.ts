/** Who may create rooms on a private server. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { adminEnv, adminOf } from '../support/admin.ts';
import { assertError } from '../support/assert-error.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const password = 'correct horse battery';
const day = 86_400_000;
const withPassword = (value: string) => ({ headers: { 'x-create-password': value } });

const startPrivate = (t: TestContext, env: Record<string, string> = {}) =>
  startTestServer(t, {
    POPROOM_CREATE: 'password',
    POPROOM_CREATE_PASSWORD: password,
    POPROOM_FREE_LIMIT: '0',
    ...env,
  });

async function tokenFrom({ api }: TestServer): Promise<string> {
  return (await api.post('/api/create-token', { json: { password } })).json.token;
}

describe('a private server', () => {
  it('[CREATE-1] lets only API keys create rooms, and everyone with the code join them', async (t) => {
    const server = await startTestServer(t, { POPROOM_CREATE: 'key' });
    const { api } = server;
    assertError(await api.post('/api/rooms', { body: '{' }), 401, 'API_KEY_REQUIRED');
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const room = await api.room({}, { headers: bearer(key) });
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
    assert.equal((await api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' } })).status, 200);
    assert.equal((await api.get('/api/limits')).json.roomCreation, 'key');
    assertError(await api.post('/api/create-token', { json: { password } }), 404, 'NOT_FOUND');
  });

  it('[CREATE-2] accepts the password, a token that stands for it, or an API key', async (t) => {
    const server = await startPrivate(t);
    const { api } = server;
    const refused = await api.post('/api/rooms');
    assertError(refused, 401, 'PASSWORD_REQUIRED');
    assert.equal(refused.headers.get('www-authenticate'), 'CreatePassword');
    assertError(await api.post('/api/rooms', withPassword('wrong password')), 403, 'PASSWORD_INCORRECT');
    const room = await api.room({}, withPassword(password));
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
    const token = await tokenFrom(server);
    assert.equal((await api.post('/api/rooms', withPassword(token))).status, 201);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    assert.equal((await api.post('/api/rooms', { headers: bearer(key) })).status, 201);
    assert.ok(!server.logged().includes(password) && !server.logged().includes(token));
  });

  it('[CREATE-2] accepts a token for 30 days, also after a restart, until the password changes', async (t) => {
    const server = await startPrivate(t);
    const { api, clock } = server;
    const issued = (await api.post('/api/create-token', { json: { password } })).json;
    assert.equal(issued.expiresAt, new Date(clock.now + 30 * day).toISOString());
    const create = async () => (await api.post('/api/rooms', withPassword(issued.token))).code;
    await server.restart();
    clock.advance(30 * day - 2000);
    assert.equal(await create(), undefined);
    clock.advance(2000);
    assert.equal(await create(), 'PASSWORD_REQUIRED');
    clock.advance(-2000);
    await server.restart({ POPROOM_CREATE_PASSWORD: 'another password' });
    assert.equal(await create(), 'PASSWORD_REQUIRED');
    const [, expiry, signature = ''] = issued.token.split('.');
    for (const forged of [`popc.zzzzzz.${signature}`, `popc.${expiry}.${'A'.repeat(43)}`])
      assertError(await api.post('/api/rooms', withPassword(forged)), 401, 'PASSWORD_REQUIRED');
  });

  it('[CREATE-3] evaluates 5 passwords per minute and 20 per hour of a client, however many it sends', async (t) => {
    const { api, clock } = await startPrivate(t);
    const guess = (given: string) => api.post('/api/create-token', { json: { password: given } });
    const burst = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(`guess ${n}`)));
    assert.equal(burst.filter(({ code }) => code === 'PASSWORD_INCORRECT').length, 5);
    const locked = await guess(password);
    assertError(locked, 429, 'RATE_LIMITED');
    assert.equal(locked.json.error.details.reason, 'misses');
    assert.equal(locked.headers.get('retry-after'), '60');
    assertError(await api.post('/api/rooms', withPassword(password)), 429, 'RATE_LIMITED');
    for (let minute = 1; minute < 4; minute++) {
      clock.advance(60_000);
      for (let n = 0; n < 5; n++) assertError(await guess('wrong'), 403, 'PASSWORD_INCORRECT');
    }
    clock.advance(60_000);
    assertError(await guess(password), 429, 'RATE_LIMITED');
    assert.equal((await api.post('/api/create-token', { json: { password }, from: '203.0.113.9' })).status, 200);
    clock.advance(3600_000);
    assert.equal((await guess(password)).status, 200);
  });

  it('[CREATE-3] evaluates 50 wrong passwords of all clients per hour, and locks out nobody who knew the right one', async (t) => {
    const server = await startPrivate(t);
    const { api } = server;
    const token = await tokenFrom(server);
    const friend = '192.0.2.1';
    assert.equal((await api.post('/api/rooms', { ...withPassword(password), from: friend })).status, 201);
    for (let n = 0; n < 50; n++) {
      const from = `203.0.${n}.1`;
      assertError(
        await api.post('/api/create-token', { json: { password: 'wrong' }, from }),
        403,
        'PASSWORD_INCORRECT',
      );
    }
    const stranger = '198.51.100.1';
    assertError(await api.post('/api/create-token', { json: { password }, from: stranger }), 429, 'RATE_LIMITED');
    assert.equal((await api.post('/api/rooms', { ...withPassword(password), from: friend })).status, 201);
    assert.equal((await api.post('/api/rooms', { ...withPassword(token), from: stranger })).status, 201);
  });

  it('[CREATE-4] believes the header with the user only from a trusted proxy, and shows who created a room', async (t) => {
    const server = await startTestServer(t, { POPROOM_CREATE: 'proxy', POPROOM_USER_HEADER: 'X-User', ...adminEnv });
    const { api } = server;
    const as = (user: string, more = {}) => api.post('/api/rooms', { headers: { 'x-user': user, ...more } });
    assertError(await api.post('/api/rooms'), 403, 'SIGN_IN_REQUIRED');
    const latin1 = (name: string) => Buffer.from(name).toString('latin1');
    for (const user of ['', ' ', 'a'.repeat(255), 'Zo\u00eb', latin1('ali\u00adce')])
      assertError(await as(user), 403, 'SIGN_IN_REQUIRED', JSON.stringify(user));
    assert.equal((await as(latin1('Zoë'))).status, 201);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    assert.equal((await as('alice', bearer(key))).status, 201);
    const { rooms } = (await adminOf(server).get('/rooms?sort=age')).json;
    const creators = rooms.map(({ createdBy }: { createdBy: object }) => createdBy);
    assert.deepEqual(
      new Set(creators),
      new Set([
        { type: 'user', name: 'Zoë' },
        { type: 'key', name: 'laptop' },
      ]),
    );

    // A proxy that adds the header, instead of replacing it, forwards that of the client too.
    assert.match(await rawPost(server, 'X-User: mallory', 'X-User: alice'), /"SIGN_IN_REQUIRED"/);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    assertError(await as('alice', foreign), 403, 'SIGN_IN_REQUIRED');
    await server.restart({ POPROOM_TRUSTED_PROXIES: '10.0.0.1' });
    assertError(await as('alice'), 403, 'SIGN_IN_REQUIRED');
    assert.ok(!server.logged().includes('alice'));
  });

  it('[CREATE-7] accepts an API key as a subprotocol of a WebSocket, and does not send it back', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const room = await server.api.room({}, { headers: bearer(key) });
    const url = `${server.url.replace('http', 'ws')}/api/rooms/${room}/live`;
    const open = (protocols: string[]) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url, protocols);
        t.after(() => socket.close());
        socket.onopen = () => resolve(`open as ${socket.protocol}`);
        socket.onerror = () => resolve('refused');
      });
    assert.equal(await open(['poproom', `key.${key}`]), 'open as poproom');
    assert.equal(await open(['poproom', `key.pop_${'x'.repeat(32)}`]), 'refused');
    assert.equal(await open(['poproom']), 'refused');
  });

  it('[CREATE-8] gets the password of the SDK only with the request for a new room', async (t) => {
    const { url, api } = await startPrivate(t);
    const room = await createClient({ url, createPassword: password }).createRoom();
    await room.write('Hello');
    const encrypted = await createClient({ url, createPassword: password }).createRoom({ encrypted: true });
    assert.match(encrypted.code, /^E/);
    await assert.rejects(createClient({ url }).createRoom(), { code: 'PASSWORD_REQUIRED' });
    await assert.rejects(createClient({ url, createPassword: 'wrong' }).createRoom(), { code: 'PASSWORD_INCORRECT' });
    assert.equal((await api.get(`/api/rooms/${room.code}/content`)).json.content, 'Hello');
  });
});

/** `fetch` cannot send a header twice. */
async function rawPost({ port }: TestServer, ...headers: string[]): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  const lines = ['POST /api/rooms HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Length: 0', ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}
