/** Links in answers, and what browsers need. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { endpoints } from '../../src/protocol/endpoints.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { storedBlobs } from '../support/stored-blobs.ts';

describe('a link', () => {
  it('[LINK-1] is built from the Host of the request', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    for (const host of ['localhost:8080', 'pop.example.org', '192.168.1.7:8080', '[fe80::1]:8080', 'my-box', 'a.b:1']) {
      const { fileUrl } = (await upload(t, server, room, `Host: ${host}`)).json;
      assert.ok(fileUrl.startsWith(`http://${host}/files/`), fileUrl);
      const { files } = (await list(t, server, room, `Host: ${host}`)).json;
      assert.equal(files.at(-1).fileUrl, fileUrl);
    }
  });

  it('[LINK-8] leads to the new room: `link` to its page, `Location` to its information', async (t) => {
    const server = await startTestServer(t);
    const create = (...headers: string[]) =>
      requestRaw(t, server.port, requestLines('POST /api/rooms HTTP/1.1', 'Connection: close', ...headers));
    const { status, json, headers } = await create('Host: pop.example.org', 'X-Forwarded-Proto: https');
    assert.equal(status, 201);
    assert.equal(json.link, `https://pop.example.org/r/${json.roomId}`);
    assert.equal(headers.get('location'), `https://pop.example.org/api/rooms/${json.roomId}`);
    const unnamed = await create('Host: a_b');
    assert.equal(unnamed.status, 201, 'a room needs no link');
    assert.deepEqual([unnamed.json.link, unnamed.headers.get('location')], [undefined, null]);
    await server.restart({ POPROOM_PUBLIC_URL: 'https://pop.example.org/share/' });
    const atPublicUrl = (await create('Host: a_b')).json;
    assert.equal(atPublicUrl.link, `https://pop.example.org/share/r/${atPublicUrl.roomId}`);
  });

  it('[LINK-1] is https if a trusted proxy says so, and only then', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const schemeBy = async (...headers: string[]) =>
      new URL((await upload(t, server, room, 'Host: pop.example.org', ...headers)).json.fileUrl).protocol;
    assert.equal(await schemeBy('X-Forwarded-Proto: https'), 'https:');
    assert.equal(await schemeBy('X-Forwarded-Proto: HTTPS'), 'https:');
    assert.equal(await schemeBy('X-Forwarded-Proto: http'), 'http:');
    assert.equal(await schemeBy('X-Forwarded-Proto: javascript'), 'http:');
    await server.restart({ POPROOM_TRUSTED_PROXIES: '' });
    assert.equal(await schemeBy('X-Forwarded-Proto: https'), 'http:');
  });

  it('[LINK-1] is built from POPROOM_PUBLIC_URL if that is set, whatever the Host', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org/share/' });
    const room = await server.api.room();
    for (const host of ['localhost', 'evil.example', 'a b', '"><script>']) {
      const { fileUrl } = (await upload(t, server, room, `Host: ${host}`)).json;
      assert.match(fileUrl, /^https:\/\/pop\.example\.org\/share\/files\/[0-9a-f]{32}\/a\.txt$/);
    }
  });

  it('[LINK-1] is not built from an invalid Host: 400, and nothing is stored', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const room = await server.api.room();
    const hostile = [
      '',
      ' ',
      'a b',
      'a/b',
      'a?b',
      'a#b',
      'user@host',
      'http://host',
      'a\\b',
      '"><script>',
      "a'b",
      '%61',
    ];
    const broken = [
      'host:',
      'host:port',
      'host:123456',
      'host:65536',
      ':80',
      '-',
      '.',
      '[::1',
      '::1',
      '[zz]',
      '[:::1]',
    ];
    const numbers = ['1.2.3.256', '1.2.3.4.5', 'é', `${'a'.repeat(300)}.example`, 'a,b', 'a, b', '*', '{host}'];
    for (const host of [...hostile, ...broken, ...numbers]) {
      const header = `Host: ${host}`;
      for (const response of await Promise.all([upload(t, server, room, header), list(t, server, room, header)])) {
        assert.equal(assertError(response, 400, 'VALIDATION_FAILED', host).field, 'Host');
        assert.ok(host.trim().length < 3 || !response.text.includes(host), 'it is not repeated');
      }
    }
    assert.deepEqual(await storedBlobs(server), []);
  });

  it('[LINK-1] is not built from two Hosts, nor without one', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const twice = await upload(t, server, room, 'Host: localhost', 'Host: evil.example');
    assert.equal(assertError(twice, 400, 'VALIDATION_FAILED').field, 'Host');
    const old = await requestRaw(t, server.port, requestLines(`GET /api/rooms/${room}/files HTTP/1.0`));
    assert.equal(assertError(old, 400, 'VALIDATION_FAILED').field, 'Host');
  });

  it('[LINK-1] does not affect responses without one', async (t) => {
    const server = await sharedServer(t);
    for (const host of ['a b', '"><script>', '[::1']) {
      const response = await requestRaw(
        t,
        server.port,
        requestLines('GET /api/health HTTP/1.1', `Host: ${host}`, 'Connection: close'),
      );
      assert.equal(response.status, 200);
    }
  });
});

describe('every response of the API', () => {
  it('[LINK-2] [LINK-3] is not cached, and can be read by pages of any origin, without credentials', async (t) => {
    const server = await sharedServer(t);
    for (const [name, { headers }] of Object.entries(await answersOf(server))) {
      assert.equal(headers.get('cache-control'), 'no-store', name);
      assertReadable(headers, name);
    }
  });

  it('[LINK-3] can be read by other origins if it is a file or a probe, too', async (t) => {
    const { api } = await sharedServer(t);
    const { fileUrl } = (await api.upload(await api.room(), 'a.txt', 'abc')).json;
    for (const path of [fileUrl, '/livez', '/readyz', '/nothing']) {
      assertReadable((await api.get(path, { headers: { origin: 'https://elsewhere.example' } })).headers, path);
    }
  });
});

describe('a preflight', () => {
  it('[LINK-3] is answered for every path that is not a page, with its methods and all headers of the API', async (t) => {
    const { api } = await sharedServer(t);
    for (const { method, path, parameters, sameOriginOnly } of Object.values(endpoints) as Described[]) {
      if (sameOriginOnly) continue;
      const { status, text, headers } = await api.call('OPTIONS', path.replace(/:\w+/g, 'x'), {
        headers: { origin: 'https://elsewhere.example', 'access-control-request-method': method },
      });
      assert.equal(status, 204, path);
      assert.equal(text, '');
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.equal(headers.get('access-control-allow-credentials'), null);
      assert.ok(listed(headers, 'access-control-allow-methods').includes(method.toLowerCase()), path);
      assert.ok(Number(headers.get('access-control-max-age')) > 0);
      const allowed = listed(headers, 'access-control-allow-headers');
      const own = parameters?.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase());
      for (const name of ['authorization', 'x-api-key', 'content-type', ...(own ?? [])]) {
        assert.ok(allowed.includes(name), `${path} allows ${name}`);
      }
    }
  });

  it('[LINK-3] is answered for a client that has used up its requests', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    for (let tries = 0; tries < 3; tries++) assert.equal((await api.call('OPTIONS', '/api/rooms')).status, 204);
    assertReadable((await api.post('/api/rooms')).headers, 'the refusal');
  });
});

interface Described {
  method: string;
  path: string;
  parameters?: readonly { name: string; in: string }[];
  sameOriginOnly?: true;
}

function assertReadable(headers: Headers, about: string): void {
  assert.equal(headers.get('access-control-allow-origin'), '*', about);
  assert.equal(headers.get('access-control-allow-credentials'), null, about);
  const exposed = listed(headers, 'access-control-expose-headers');
  const rateHeaders = ['etag', 'ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining'];
  for (const name of [...rateHeaders, 'x-ratelimit-reset', 'retry-after', 'x-request-id']) {
    assert.ok(exposed.includes(name), `${about} exposes ${name}`);
  }
}

function listed(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);
}

/** One of each kind. */
async function answersOf({ api }: TestServer): Promise<Record<string, ApiResponse>> {
  const created = await api.post('/api/rooms', { headers: { origin: 'https://elsewhere.example' } });
  const room = `/api/rooms/${created.json.roomId}`;
  return {
    created,
    looked: await api.get(room),
    written: await api.post(`${room}/content`, { json: { content: 'x' } }),
    read: await api.get(`${room}/content`),
    fresh: await api.get(`${room}/content`, { headers: { 'if-none-match': '"1"' } }),
    uploaded: await api.upload(created.json.roomId, 'a.txt', 'abc'),
    files: await api.get(`${room}/files`),
    health: await api.get('/api/health'),
    description: await api.get('/api/openapi.json'),
    unknown: await api.get('/api/rooms/7KQ2MX'),
    nothing: await api.get('/api/nothing'),
    wrongMethod: await api.call('PUT', '/api/rooms'),
    badBody: await api.post('/api/rooms', { json: [] }),
    badKey: await api.get('/api/health', { headers: { 'x-api-key': 'x' } }),
    head: await api.call('HEAD', room),
    deleted: await api.delete(room),
  };
}

/** With headers as they are given, the Host among them. */
function upload(t: TestContext, { port }: TestServer, room: string, ...headers: string[]): Promise<ApiResponse> {
  const own = ['Content-Type: text/plain', 'X-File-Name: a.txt', 'Content-Length: 3', 'Connection: close'];
  return requestRaw(t, port, `${requestLines(`POST /api/rooms/${room}/upload HTTP/1.1`, ...headers, ...own)}abc`);
}

function list(t: TestContext, { port }: TestServer, room: string, ...headers: string[]): Promise<ApiResponse> {
  return requestRaw(t, port, requestLines(`GET /api/rooms/${room}/files HTTP/1.1`, ...headers, 'Connection: close'));
}
