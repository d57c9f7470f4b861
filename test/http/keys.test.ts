/** API keys over the API. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { drawApiKey } from '../../src/core/clients.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { roomOperations } from '../support/room-operations.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

describe('an API key', () => {
  it('[KEY-1] is sent as a bearer token or in its own header', async (t) => {
    const server = await startTestServer(t);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const ways = [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer   ${key} ` },
      { 'x-api-key': key },
      { 'x-api-key': ` ${key} ` },
    ];
    for (const [n, headers] of ways.entries()) {
      assert.equal(spent(await server.api.get('/api/health', { headers })), `pro ${999 - n}`, JSON.stringify(headers));
    }
  });

  it('[KEY-1] has the form pop_ and 32 letters or digits, and is stored only as a SHA-256', async (t) => {
    const server = await startTestServer(t);
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    assert.match(key, /^pop_[0-9A-Za-z]{32}$/);
    await server.api.get('/api/health', { headers: bearer(key) });
    await server.stop();
    const bytes = await (await inspectStore(server)).bytes();
    assert.ok(bytes.includes(createHash('sha256').update(key).digest('hex')));
    assert.ok(!bytes.includes(key.slice(4)));
    assert.ok(!server.logged().includes(key.slice(4)));
  });

  it('[KEY-4] is known as soon as another process has created it, also right after a read', async (t) => {
    const server = await startTestServer(t);
    const keys = apiKeysOf(t, server);
    for (let n = 0; n < 3; n++) {
      await server.api.get(`/api/rooms/${await server.api.room()}/content`);
      const headers = bearer(await keys.make(`laptop ${n}`, 'pro'));
      assert.equal((await server.api.get('/api/health', { headers })).status, 200);
    }
  });

  it('[KEY-2] is optional: without one a request is on the free tier', async (t) => {
    const { api } = await startTestServer(t);
    assert.equal(spent(await api.get('/api/health')), 'free 99');
    assert.equal(spent(await api.get('/api/health', { headers: { authorization: 'Basic dTpw' } })), 'free 98');
    assert.equal((await api.post('/api/rooms')).status, 201);
  });

  it('[KEY-2] is rejected if it was never created', async (t) => {
    const { api } = await startTestServer(t);
    const { text } = drawApiKey();
    const others = [text, `${text}x`, text.slice(0, -1), 'pop_', 'x', '', `pop_${'é'.repeat(32)}`, `${text} ${text}`];
    for (const key of others) {
      const response = await api.get('/api/health', { headers: { 'x-api-key': key } });
      assertError(response, 401, 'INVALID_API_KEY', key);
      assert.match(spent(response), /^free/);
    }
    assertError(await api.get('/api/health', { headers: bearer(text) }), 401, 'INVALID_API_KEY');
    assertError(await api.post('/api/rooms', { headers: bearer(text) }), 401, 'INVALID_API_KEY');
  });

  it('[KEY-2] that is unknown counts against the address, and is reported also over its limit', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const guess = () => api.get('/api/health', { headers: bearer(drawApiKey().text) });
    for (let tries = 0; tries < 3; tries++) assertError(await guess(), 401, 'INVALID_API_KEY');
    assertError(await api.get('/api/health'), 429, 'RATE_LIMITED');
    const refused = await guess();
    assertError(refused, 401, 'INVALID_API_KEY');
    assert.equal(spent(refused), 'free 0');
  });

  it('[KEY-2] that is unknown is ignored where no key is required', async (t) => {
    const { api } = await sharedServer(t);
    const { fileUrl } = (await api.upload(await api.room(), 'a.txt', 'abc')).json;
    for (const path of [fileUrl, '/livez', '/docs']) {
      assert.equal((await api.get(path, { headers: bearer(drawApiKey().text) })).status, 200, path);
    }
  });

  it('[CLIENT-1] [RATE-1] has its own limit, from every address', async (t) => {
    const server = await startTestServer(t);
    const keys = apiKeysOf(t, server);
    const [pro, free] = [await keys.make('one', 'pro'), await keys.make('other', 'free')];
    const use = async (key: string, from: string) =>
      spent(await server.api.get('/api/health', { headers: bearer(key), from }));
    assert.equal(await use(pro, '192.0.2.1'), 'pro 999');
    assert.equal(await use(pro, '192.0.2.2'), 'pro 998');
    assert.equal(await use(free, '192.0.2.1'), 'free 99');
    assert.equal(spent(await server.api.get('/api/health', { from: '192.0.2.1' })), 'free 99');
  });
});

describe('a server that requires a key', () => {
  it('[KEY-3] rejects requests without one under /api', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const { api } = server;
    assertError(await api.post('/api/rooms', { json: {} }), 401, 'API_KEY_REQUIRED');
    assertError(await api.get('/api/openapi.json'), 401, 'API_KEY_REQUIRED');
    assertError(await api.get('/api/nothing'), 401, 'API_KEY_REQUIRED');
    assertError(await api.call('PUT', '/api/rooms'), 401, 'API_KEY_REQUIRED');
    const room = await api.room({}, { headers: bearer(key) });
    for (const { name, run, success } of roomOperations) {
      assertError(await run(api, room), 401, 'API_KEY_REQUIRED', name);
      assert.equal((await run(api, room, { headers: { 'x-api-key': key } })).status, success, name);
    }
  });

  it('[KEY-3] rejects every endpoint under /api without one, except health', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const all = Object.values(endpoints).filter(({ path }) => path.startsWith('/api/') && path !== '/api/health');
    assert.ok(all.length > 20);
    for (const { method, path } of all) {
      const { status } = await api.call(method, path.replaceAll(/:\w+/g, '7KQ2MX'));
      assert.equal(status, 401, `${method} ${path}`);
    }
  });

  it('[KEY-3] leaves health, files, the page, probes and preflights open', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const headers = bearer(await apiKeysOf(t, server).make('laptop', 'pro'));
    const { api } = server;
    const { fileUrl } = (await api.upload(await api.room({}, { headers }), 'a.txt', 'abc', { headers })).json;
    for (const path of ['/api/health', '/docs', '/livez', '/readyz', fileUrl]) {
      assert.equal((await api.get(path)).status, 200, path);
    }
    assert.equal((await api.call('OPTIONS', '/api/rooms')).status, 204);
    assertError(await api.get('/api/health', { headers: bearer('nonsense') }), 401, 'INVALID_API_KEY');
  });
});

describe('creating and revoking keys', () => {
  it('[KEY-4] works while the server runs, and takes effect within a second', async (t) => {
    const server = await startTestServer(t);
    const keys = apiKeysOf(t, server);
    const use = (key: string) => server.api.get('/api/health', { headers: bearer(key) });
    const key = await keys.make('laptop', 'pro');
    assert.equal((await use(key)).status, 200);
    const other = await keys.make('phone', 'free');
    assert.equal((await use(other)).status, 200);
    await keys.revoke('laptop');
    const revokedAt = performance.now();
    await eventually('the key holds no more', async () => {
      const isLate = performance.now() - revokedAt > 1000;
      const { status } = await use(key);
      assert.ok(status === 401 || !isLate, 'a request a second later is refused');
      return status === 401;
    });
    assertError(await use(key), 401, 'INVALID_API_KEY');
    assert.equal((await use(other)).status, 200);
    const again = await keys.make('laptop', 'pro');
    assertError(await use(key), 401, 'INVALID_API_KEY');
    assert.equal((await use(again)).status, 200);
  });

  it('[KEY-4] [LIFE-6] survives a restart', async (t) => {
    const server = await startTestServer(t);
    const keys = apiKeysOf(t, server);
    const [key, revoked] = [await keys.make('laptop', 'pro'), await keys.make('phone', 'pro')];
    await keys.revoke('phone');
    await server.restart();
    assert.equal((await server.api.get('/api/health', { headers: bearer(key) })).status, 200);
    assertError(await server.api.get('/api/health', { headers: bearer(revoked) }), 401, 'INVALID_API_KEY');
  });
});

/** The tier of an answer and what is left of it. */
function spent({ headers }: ApiResponse): string {
  const [, tier] = /^"(\w+)"/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  return `${tier} ${headers.get('x-ratelimit-remaining')}`;
}
