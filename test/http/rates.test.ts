/** Rate limits and their headers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const second = 1000;
const hour = 3600 * second;

describe('the limit of a client', () => {
  it('[slow] [RATE-1] [RATE-2] is 100 requests per hour, and exactly so many of 300 concurrent ones are granted', async (t) => {
    const { api } = await startTestServer(t);
    const responses = await Promise.all(Array.from({ length: 300 }, () => api.get('/api/health')));
    const granted = responses.filter(({ status }) => status === 200);
    assert.equal(granted.length, 100);
    const remaining = granted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    assert.deepEqual(
      remaining.sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, n) => n),
    );
    for (const response of responses.filter(({ status }) => status !== 200)) {
      assert.deepEqual(assertError(response, 429, 'RATE_LIMITED'), {
        reason: 'requests',
        retryAfter: 3600,
        limit: 100,
      });
      assert.equal(response.headers.get('retry-after'), '3600');
      assert.equal(response.headers.get('x-ratelimit-remaining'), '0');
    }
  });

  it('[RATE-1] starts its hour with the first request, and resets after it', async (t) => {
    const { api, clock } = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const begun = clock.now;
    assertQuota(await api.get('/api/health'), { limit: 2, left: 1, resetAt: begun + hour, now: clock.now });
    clock.advance(hour - 1500);
    assertQuota(await api.get('/api/health'), { limit: 2, left: 0, resetAt: begun + hour, now: clock.now });
    const refused = await api.get('/api/health');
    assertQuota(refused, { limit: 2, left: 0, resetAt: begun + hour, now: clock.now });
    assert.equal(refused.headers.get('retry-after'), '2');
    clock.advance(1499);
    assert.equal((await api.get('/api/health')).headers.get('retry-after'), '1');
    clock.advance(1);
    assertQuota(await api.get('/api/health'), { limit: 2, left: 1, resetAt: begun + 2 * hour, now: clock.now });
  });

  it('[RATE-1] is not extended by rejected requests', async (t) => {
    const { api, clock } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    for (let tries = 0; tries < 5; tries++) {
      await api.get('/api/health');
      clock.advance(hour / 5);
    }
    assert.equal((await api.get('/api/health')).status, 200);
  });

  it('[RATE-2] is granted exactly, whatever is requested concurrently', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '20' });
    const room = await api.room();
    const paths = ['/api/health', '/api/nothing', `/api/rooms/${room}`, `/api/rooms/${room}/content`];
    const responses = await Promise.all(Array.from({ length: 15 }, () => paths.map((path) => api.get(path))).flat());
    assert.equal(responses.filter(({ code }) => code !== 'RATE_LIMITED').length, 19);
  });

  it('[RATE-2] rejects a request over it before anything is done', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const room = await api.room();
    assertError(await api.post(`/api/rooms/${room}/content`, { json: { content: 'x' } }), 429, 'RATE_LIMITED');
    assertError(await api.delete(`/api/rooms/${room}`), 429, 'RATE_LIMITED');
    assert.equal((await api.get(`/api/rooms/${room}/content`, { from: '192.0.2.1' })).json.content, '');
  });

  it('[RATE-3] counts everything under /api, and nothing else', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_METRICS: 'true' });
    const room = await api.room();
    const { fileUrl } = (await api.upload(room, 'a.txt', 'abc')).json;
    let left = 98;
    const counted: [string, string][] = [
      ['GET', '/api/health'],
      ['HEAD', '/api/health'],
      ['GET', '/api/openapi.json'],
      ['GET', '/api'],
      ['GET', '/api/'],
      ['GET', '/api/nothing?x'],
      ['PUT', '/api/rooms'],
      ['OPTIONS', '/api/rooms'],
      ['OPTIONS', '/api/nothing'],
      ['GET', '/api/rooms/7KQ2MX'],
      ['POST', `/api/rooms/${room}/content`],
    ];
    for (const [method, path] of counted) {
      left -= 1;
      assert.equal(leftOf(await api.call(method, path)), left, `${method} ${path}`);
    }
    const free = [fileUrl, '/files/x/y', '/docs', '/livez', '/readyz', '/metrics', '/apis', '/nothing'];
    free.push('/', '/r/7KQ2MX', '/share', '/invite', '/assets/nothing');
    for (const path of free) assert.equal(leftOf(await api.get(path)), left, path);
  });

  it('[RATE-5] is disabled by 0, and is then not named', async (t) => {
    const { api, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const responses = await Promise.all(Array.from({ length: 150 }, () => api.get('/api/health')));
    responses.push(
      await api.get('/livez'),
      await api.get('/api/nothing'),
      await requestRaw(t, port, 'nonsense\r\n\r\n'),
    );
    for (const { status, headers } of responses) {
      assert.notEqual(status, 429);
      assert.deepEqual(
        [...headers.keys()].filter((name) => name.includes('ratelimit')),
        [],
      );
    }
  });

  it('[RATE-1] [RATE-5] depends on the tier, each with its own setting', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '5' });
    const headers = bearer(await apiKeysOf(t, server).make('laptop', 'pro'));
    const responses = await Promise.all(Array.from({ length: 20 }, () => server.api.get('/api/health', { headers })));
    assert.equal(responses.filter(({ status }) => status === 200).length, 5);
    for (const { headers } of responses) assert.equal(headers.get('ratelimit-policy'), '"pro";q=5;w=3600');
    assert.equal((await server.api.get('/api/health')).headers.get('ratelimit-policy'), null);
  });

  it('[RATE-6] survives a clean restart exactly', async (t) => {
    const { api, clock, restart } = await startTestServer(t, { POPROOM_FREE_LIMIT: '5' });
    const begun = clock.now;
    for (let requests = 0; requests < 3; requests++) await api.get('/api/health');
    await restart();
    clock.advance(10 * second);
    assertQuota(await api.get('/api/health'), { limit: 5, left: 1, resetAt: begun + hour, now: clock.now });
    await api.get('/api/health');
    await restart();
    assertError(await api.get('/api/health'), 429, 'RATE_LIMITED');
    assert.equal((await api.get('/api/health', { from: '192.0.2.1' })).status, 200);
    clock.advance(hour - 10 * second);
    await restart();
    assert.equal(leftOf(await api.get('/api/health')), 4);
  });
});

describe('the rate headers', () => {
  const kinds: Record<string, { status: number; get: (t: TestServer) => Promise<ApiResponse> }> = {
    'a read': { status: 200, get: ({ api }) => api.get('/api/health') },
    'a creation': { status: 201, get: ({ api }) => api.post('/api/rooms') },
    'a preflight': { status: 204, get: ({ api }) => api.call('OPTIONS', '/api/rooms') },
    'a fresh copy': {
      status: 304,
      get: async ({ api }) =>
        api.get(`/api/rooms/${await api.room()}/content`, { headers: { 'if-none-match': '"0"' } }),
    },
    'a bad body': {
      status: 400,
      get: ({ api }) => api.post('/api/rooms', { body: '{', headers: { 'content-type': 'application/json' } }),
    },
    'a wrong key': { status: 401, get: ({ api }) => api.get('/api/health', { headers: { 'x-api-key': 'x' } }) },
    'a wrong PIN': {
      status: 403,
      get: async ({ api }) => api.get(`/api/rooms/${await api.room({ pin: '0427' })}`, { pin: '9999' }),
    },
    'an unknown room': { status: 404, get: ({ api }) => api.get('/api/rooms/7KQ2MX') },
    'an unknown path': { status: 404, get: ({ api }) => api.get('/nothing') },
    'a wrong method': { status: 405, get: ({ api }) => api.call('PUT', '/api/rooms') },
    'a body that is too large': {
      status: 413,
      get: ({ api }) => api.post('/api/rooms', { json: { pin: 'x'.repeat(20_000) } }),
    },
    'a body of another kind': { status: 415, get: ({ api }) => api.post('/api/rooms', { body: 'x' }) },
    'an upload': { status: 201, get: async ({ api }) => api.upload(await api.room(), 'a.txt', 'abc') },
    'a file': {
      status: 200,
      get: async ({ api }) => api.get((await api.upload(await api.room(), 'a.txt', 'abc')).json.fileUrl),
    },
    'an unknown file': { status: 404, get: ({ api }) => api.get(`/files/${'0'.repeat(32)}/a.txt`) },
    'a HEAD': { status: 200, get: ({ api }) => api.call('HEAD', '/api/health') },
    'the page to read': { status: 200, get: ({ api }) => api.get('/docs') },
    'the probe of life': { status: 200, get: ({ api }) => api.get('/livez') },
    'the probe of readiness': { status: 200, get: ({ api }) => api.get('/readyz') },
  };

  it('[RATE-4] are on every kind of response', async (t) => {
    const server = await startTestServer(t);
    const { now } = server.clock;
    for (const [name, { status, get }] of Object.entries(kinds)) {
      const response = await get(server);
      assert.equal(response.status, status, name);
      assertQuota(response, { limit: 100, left: leftOf(response), resetAt: now + hour, now });
    }
  });

  it('[RATE-4] are on rejections (429), for its tier and for guessing', async (t) => {
    const { api, clock } = await startTestServer(t, { POPROOM_FREE_LIMIT: '3', POPROOM_MISS_LIMIT: '1' });
    await api.get('/api/rooms/7KQ2MX');
    const guess = await api.get('/api/rooms/7KQ2MX');
    assertError(guess, 429, 'RATE_LIMITED');
    assertQuota(guess, { limit: 3, left: 1, resetAt: clock.now + hour, now: clock.now });
    await api.get('/api/health');
    const over = await api.get('/api/health');
    assertError(over, 429, 'RATE_LIMITED');
    assertQuota(over, { limit: 3, left: 0, resetAt: clock.now + hour, now: clock.now });
  });

  it('[RATE-4] are on invalid HTTP (400), if the address is known', async (t) => {
    const { api, clock, port } = await startTestServer(t);
    await api.get('/api/health');
    for (const bytes of ['nonsense\r\n\r\n', requestLines('GET / HTTP/1.1', 'Host : x'), '\x16\x03\x01']) {
      const response = await requestRaw(t, port, bytes);
      assert.equal(response.status, 400);
      assertQuota(response, { limit: 100, left: 99, resetAt: clock.now + hour, now: clock.now });
    }
  });
});

interface ExpectedQuota {
  limit: number;
  left: number;
  resetAt: number;
  now: number;
}

function assertQuota({ headers }: ApiResponse, { limit, left, resetAt, now }: ExpectedQuota): void {
  assert.deepEqual(Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit'))), {
    'ratelimit-policy': `"free";q=${limit};w=3600`,
    ratelimit: `"free";r=${left};t=${Math.ceil((resetAt - now) / 1000)}`,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(resetAt / 1000),
  });
}

function leftOf({ headers }: ApiResponse): number {
  const left = headers.get('x-ratelimit-remaining');
  assert.match(left ?? '', /^\d+$/);
  return Number(left);
}
