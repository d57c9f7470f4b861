/** Requests that are rejected temporarily, and requests with an API key. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { type ClientOptions, createClient } from '../../src/client/index.ts';
import { apiKeysOf } from '../support/keys.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { startTestServer } from '../support/server.ts';
import { startBusyGateway } from './busy-gateway.ts';
import { follow } from './follower.ts';

describe('a request that is rejected temporarily', () => {
  for (const status of [429, 503] as const) {
    it(`[SDK-11] with ${status} is retried after the requested delay, if retries are enabled`, async (t) => {
      const { gateway, client } = await setUp(t, { retry: true });
      gateway.reject(1, status, 1);
      await client.createRoom();
      const [first = 0, second = 0] = gateway.requestTimes;
      assert.ok(second - first >= 990, `after ${second - first} ms`);
    });
  }

  it('[SDK-11] by a proxy, possibly after its execution, is retried only if it is safe', async (t) => {
    const { count, url } = await startBrokenGateway(t, 504);
    const room = createClient({ url, retry: { attempts: 2 } }).room('7KQ2MX');
    const changing = [
      () => createClient({ url, retry: { attempts: 2 } }).createRoom(),
      () => room.upload(new Blob(['x']), { name: 'x' }),
      () => room.write('x'),
      () => room.delete(),
    ];
    for (const change of changing) {
      await assert.rejects(change(), { code: 'UNAVAILABLE' });
      assert.equal(count(), 1, String(change));
    }
    await assert.rejects(room.read(), { code: 'UNAVAILABLE' });
    assert.equal(count(), 2);
  });

  for (const [status, headers] of [
    [429, {}],
    [503, { 'Retry-After': '0' }],
  ] as const) {
    it(`[SDK-11] by a proxy with ${status}, before its execution, is always retried`, async (t) => {
      const { count, url } = await startBrokenGateway(t, status, headers);
      await assert.rejects(createClient({ url, retry: { attempts: 2 } }).createRoom());
      assert.equal(count(), 2);
    });
  }

  it('[SDK-11] is not retried by default', async (t) => {
    const { gateway, client } = await setUp(t, {});
    gateway.reject(1, 503, 0);
    await assert.rejects(client.createRoom(), { code: 'UNAVAILABLE', retryAfter: 0 });
    assert.equal(gateway.requestTimes.length, 1);
  });

  it('[SDK-11] is retried at most the given number of times', async (t) => {
    const { gateway, client } = await setUp(t, { retry: { attempts: 3 } });
    gateway.reject(9, 503, 0);
    await assert.rejects(client.createRoom(), { code: 'UNAVAILABLE' });
    assert.equal(gateway.requestTimes.length, 3);
  });

  it('[SDK-11] fails immediately if the delay would exceed the maximum', async (t) => {
    const { gateway, client } = await setUp(t, { retry: { maxSeconds: 5 } });
    gateway.reject(1, 429, 6);
    await assert.rejects(client.createRoom(), { code: 'RATE_LIMITED', retryAfter: 6 });
    assert.equal(gateway.requestTimes.length, 1);
  });

  it('[SDK-11] can be aborted while it waits', async (t) => {
    const { gateway, client } = await setUp(t, { retry: true });
    gateway.reject(1, 503, 30);
    const reason = new Error('enough');
    const aborter = new AbortController();
    const made = client.createRoom({}, { signal: aborter.signal });
    setTimeout(() => aborter.abort(reason), 200);
    await assert.rejects(made, reason);
  });

  it('[SDK-11] may be an upload, but not of a stream, which can be read only once', async (t) => {
    const { gateway, client } = await setUp(t, { retry: true });
    const room = await client.createRoom();
    const file = new Blob(['hello']);
    gateway.reject(1, 503, 0);
    assert.equal((await room.upload(file, { name: 'x' })).fileSize, 5);
    gateway.reject(1, 503, 0);
    await assert.rejects(room.upload(file.stream(), { name: 'x' }), { code: 'UNAVAILABLE' });
  });
});

describe('an API key', () => {
  it('[SDK-12] is sent with every request and with the live channel', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const { url } = server;
    const apiKey = await apiKeysOf(t, server).make('bot', 'pro');
    await assert.rejects(createClient({ url }).createRoom(), { code: 'API_KEY_REQUIRED' });
    await assert.rejects(createClient({ url, apiKey: `${apiKey}x` }).createRoom(), { code: 'INVALID_API_KEY' });
    const client = createClient({ url, apiKey });
    const room = await client.createRoom();
    assert.equal(client.rateLimit?.limit, 1000);
    await room.upload(new Blob(['x']), { name: 'x' });
    assert.equal((await follow(t, room).next('snapshot')).files.length, 1);
    const stranger = follow(t, createClient({ url }).room(room.code));
    await assert.rejects(stranger.end, { code: 'API_KEY_REQUIRED' });
  });
});

/** Answers everything by itself, and counts what came since it was last asked. */
async function startBrokenGateway(t: TestContext, status: number, headers: Record<string, string> = {}) {
  let came = 0;
  const gateway = createServer((incoming, response) => {
    came++;
    incoming.resume().on('end', () => response.writeHead(status, headers).end('<h1>Sorry</h1>'));
  });
  const url = await listenOnFreePort(t, gateway);
  const count = () => {
    const counted = came;
    came = 0;
    return counted;
  };
  return { count, url };
}

async function setUp(t: TestContext, options: Partial<ClientOptions>) {
  const { port } = await startTestServer(t);
  const gateway = await startBusyGateway(t, port);
  return { gateway, client: createClient({ url: gateway.url, ...options }) };
}
