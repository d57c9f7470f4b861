/** Requests that are rejected temporarily, and requests with an API key. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { type ClientOptions, createClient, type RetryEvent } from '../../src/client/index.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
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
    const client = createClient({ url, retry: { attempts: 2 } });
    const room = client.room('7KQ2MX');
    const unsafe = [() => room.delete(), () => room.removeFile('x'), () => room.update({ name: 'x' })];
    const withKey = [
      () => client.createRoom(),
      () => room.upload(new Blob(['x']), { name: 'x' }),
      () => room.write('x'),
      () => room.append('x'),
    ];
    for (const change of unsafe) {
      await assert.rejects(change(), { code: 'UNAVAILABLE' });
      assert.equal(count(), 1, String(change));
    }
    for (const request of [() => room.read(), ...withKey]) {
      await assert.rejects(request(), { code: 'UNAVAILABLE' });
      assert.equal(count(), 2, String(request));
    }
  });

  for (const loss of ['whole', 'body'] as const) {
    it(`[IDEM-5] whose response is lost (${loss}) is retried, and runs once`, async (t) => {
      const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
      const lost = new Set<string>();
      const losesResponse = ({ headers }: IncomingMessage) => {
        const key = String(headers['idempotency-key'] ?? '');
        if (key === '' || lost.has(key)) return undefined;
        lost.add(key);
        return loss;
      };
      const url = await startBadProxy(t, server.port, { losesResponse });
      const client = createClient({ url, retry: true });
      const room = await client.createRoom({ name: 'Once' });
      assert.equal((await room.write('a')).version, 1);
      assert.equal((await room.edit([{ from: 1, to: 1, insert: 'b' }])).version, 2);
      assert.equal((await room.append('c')).version, 3);
      assert.equal((await room.read()).content, 'abc');
      const uploaded = await room.upload(new Blob(['hello']), { name: 'x' });
      assert.deepEqual(
        (await room.files()).map(({ fileId }) => fileId),
        [uploaded.fileId],
      );
      assert.equal(lost.size, 5);
      const metrics = await server.api.get('/metrics');
      assert.match(metrics.text, /^poproom_rooms 1$/m);
    });
  }

  it('[IDEM-5] is sent without a key and once if retries are not enabled', async (t) => {
    const server = await startTestServer(t);
    const keys: unknown[] = [];
    const losesResponse = ({ headers }: IncomingMessage) => {
      keys.push(headers['idempotency-key']);
      return 'whole' as const;
    };
    const url = await startBadProxy(t, server.port, { losesResponse });
    await assert.rejects(createClient({ url }).createRoom(), { code: 'OFFLINE' });
    assert.deepEqual(keys, [undefined]);
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

  it('[SDK-28] is reported to onRetry, with the attempt, the error and the wait', async (t) => {
    const retried: RetryEvent[] = [];
    const onRetry = (event: RetryEvent) => void retried.push(event);
    const { gateway, client } = await setUp(t, { retry: true, onRetry });
    gateway.reject(2, 503, 0);
    await client.createRoom();
    assert.deepEqual(
      retried.map(({ attempt, error }) => [attempt, error.code, error.status]),
      [
        [1, 'UNAVAILABLE', 503],
        [2, 'UNAVAILABLE', 503],
      ],
    );
    for (const { waitMs } of retried) assert.ok(waitMs >= 250 && waitMs <= 1000, String(waitMs));
    gateway.reject(9, 429, 90);
    await assert.rejects(client.createRoom(), { code: 'RATE_LIMITED', retryAfter: 90, status: 429 });
    assert.equal(retried.length, 2, 'it was not repeated');
    gateway.reject(1, 503, 0);
    const room = await createClient({ url: gateway.url, retry: true, onRetry: refuse }).createRoom().catch(String);
    assert.equal(room, 'Error: not again', 'an error of the function ends the request');
  });

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

function refuse(): never {
  throw new Error('not again');
}
