/** How long the SDK waits for a silent server. The clock and the network are those of the test. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type ClientOptions, createClient, PoproomError, type RetryEvent } from '../../src/client/index.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { sharedServer } from '../support/server.ts';

const info = { roomId: '7KQ2MX', expiresAt: '2026-11-16T09:30:00.000Z', hasPin: false, deviceCount: 1 };
const fileUrl = `/files/${'0'.repeat(32)}/film.mp4`;

type Answer = (init: RequestInit) => Response | Promise<Response>;

/** A client whose requests the test answers, at times that it chooses. */
function setUp(t: TestContext, answer: Answer, options: Partial<ClientOptions> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'fetch', (_url: string, init: RequestInit) => {
    const aborted = new Promise<never>((_, reject) =>
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
    );
    return Promise.race([answer(init), aborted]);
  });
  const client = createClient({ url: 'https://pop.example.org', ...options });
  /** Lets everything happen that does not depend on the time, before and after. */
  const pass = async (seconds: number) => {
    for (let turns = 0; turns < 5; turns++) await setImmediate();
    t.mock.timers.tick(seconds * 1000);
    for (let turns = 0; turns < 5; turns++) await setImmediate();
  };
  return { client, room: client.room('7KQ2MX'), pass };
}

const never = () => new Promise<never>(() => undefined);

/** The state of a promise, and its error. */
function observe(promise: Promise<unknown>): { state: string; error?: PoproomError } {
  const observed: { state: string; error?: PoproomError } = { state: 'pending' };
  promise.then(
    () => {
      observed.state = 'resolved';
    },
    (error) => {
      observed.state = error.code ?? error.name;
      observed.error = error;
    },
  );
  return observed;
}

describe('a silent server', () => {
  it('[SDK-22] fails a request after 30 seconds with TIMEOUT', async (t) => {
    const { room, pass } = setUp(t, never);
    const read = observe(room.read());
    await pass(29.9);
    assert.equal(read.state, 'pending');
    await pass(0.2);
    assert.equal(read.state, 'TIMEOUT');
    assert.ok(read.error instanceof PoproomError);
    assert.equal((read.error.cause as Error).name, 'TimeoutError');
    assert.match(read.error.message, /did not respond for 30 seconds/);
  });

  it('[SDK-22] fails after the time of the client, or of the call', async (t) => {
    const { room, pass } = setUp(t, never, { timeoutSeconds: 5 });
    const calls = [room.info(), room.write('x', { timeoutSeconds: 8 }), room.files({ timeoutSeconds: 8 })].map(observe);
    await pass(5.1);
    assert.deepEqual(
      calls.map(({ state }) => state),
      ['TIMEOUT', 'pending', 'pending'],
    );
    await pass(3);
    assert.deepEqual(
      calls.map(({ state }) => state),
      ['TIMEOUT', 'TIMEOUT', 'TIMEOUT'],
    );
  });

  it('[SDK-22] does not fail a request without a limit: 0 or Infinity', async (t) => {
    const { client, room, pass } = setUp(t, never, { timeoutSeconds: 0 });
    const endless = createClient({ url: client.url, timeoutSeconds: Number.POSITIVE_INFINITY }).room('7KQ2MX');
    const limited = createClient({ url: client.url }).room('7KQ2MX');
    const off = [{ timeoutSeconds: 0 }, { timeoutSeconds: Number.POSITIVE_INFINITY }];
    const calls = [room.info(), endless.info(), ...off.map((options) => limited.info(options))].map(observe);
    await pass(100_000);
    for (const { state } of calls) assert.equal(state, 'pending');
  });

  it('[SDK-22] fails a response that stops, however long it was', async (t) => {
    const chunks: ReadableStreamDefaultController<Uint8Array>[] = [];
    const body = () => new ReadableStream<Uint8Array>({ start: (controller) => void chunks.push(controller) });
    const { room, pass } = setUp(t, () => new Response(body()));
    const read = observe(room.info());
    for (const part of JSON.stringify(info).slice(0, -1)) {
      await pass(29);
      chunks[0]?.enqueue(new TextEncoder().encode(part));
    }
    assert.equal(read.state, 'pending');
    await pass(30.1);
    assert.equal(read.state, 'TIMEOUT');
  });

  it('[SDK-22] fails with TIMEOUT over a real connection too, and the call is retried if that is safe', async (t) => {
    const silent = createServer((request) => void request.resume());
    const retried: RetryEvent[] = [];
    const impatient = createClient({
      url: await listenOnFreePort(t, silent),
      timeoutSeconds: 0.05,
      retry: { attempts: 2 },
      onRetry: (event) => retried.push(event),
    });
    await assert.rejects(impatient.room('7KQ2MX').write('x'), { code: 'TIMEOUT', status: undefined });
    assert.deepEqual(
      retried.map(({ attempt, error }) => [attempt, error.code]),
      [[1, 'TIMEOUT']],
    );
    await assert.rejects(impatient.room('7KQ2MX').delete(), { code: 'TIMEOUT' });
    assert.equal(retried.length, 1);
  });

  it('[SDK-22] [SEALED-41] does so in an encrypted room too', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom({ encrypted: true });
    t.mock.method(globalThis, 'fetch', (_: string, { signal }: RequestInit) => {
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    });
    for (const call of [room.read, room.files, room.info])
      await assert.rejects(call({ timeoutSeconds: 0.02 }), { code: 'TIMEOUT' });
    await assert.rejects(room.write('x', { timeoutSeconds: 0.02 }), { code: 'TIMEOUT' });
    await assert.rejects(room.append('x', { timeoutSeconds: 0.02 }), { code: 'TIMEOUT' });
    await assert.rejects(room.upload(new Blob(['x']), { name: 'x', timeoutSeconds: 0.02 }), { code: 'TIMEOUT' });
  });
});

describe('a long upload', () => {
  it('[SDK-22] is not ended while the server takes bytes, or while its source has none', async (t) => {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const { room, pass } = setUp(t, ({ body }) => {
      reader = (body as ReadableStream<Uint8Array>).getReader();
      return never();
    });
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        feed = controller;
      },
    });
    const upload = observe(room.upload(source, { name: 'film.mp4' }));
    await pass(1);
    for (let part = 0; part < 5; part++) {
      await pass(100);
      feed?.enqueue(new Uint8Array(10));
      await pass(29);
      await reader?.read();
    }
    assert.equal(upload.state, 'pending');
    feed?.enqueue(new Uint8Array(10));
    await pass(30.1);
    assert.equal(upload.state, 'TIMEOUT', 'the server takes no more bytes');
  });

  it('[SDK-22] has more time for a long text, whose progress is unknown', async (t) => {
    const { room, pass } = setUp(t, never);
    const [short, long] = [observe(room.write('x')), observe(room.write('x'.repeat(1024 * 1024)))];
    await pass(30.1);
    assert.deepEqual([short.state, long.state], ['TIMEOUT', 'pending']);
    await pass(65);
    assert.equal(long.state, 'TIMEOUT');
  });
});

describe('a long download', () => {
  it('[SDK-22] is ended only if the server sends nothing, not by a slow reader', async (t) => {
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        feed = controller;
      },
    });
    const { room, pass } = setUp(t, () => new Response(body, { headers: { 'Content-Length': '60' } }));
    const progress: [number, number | undefined][] = [];
    const onProgress = (bytes: number, total: number | undefined) => progress.push([bytes, total]);
    const response = await room.download({ fileUrl }, { onProgress });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let part = 0; part < 5; part++) {
      const read = reader.read();
      await pass(29);
      feed?.enqueue(new Uint8Array(10));
      assert.equal((await read).value?.length, 10);
      feed?.enqueue(new Uint8Array(1));
      await pass(100);
      assert.equal((await reader.read()).value?.length, 1);
    }
    assert.deepEqual(progress.slice(-2), [
      [54, 60],
      [55, 60],
    ]);
    const last = observe(reader.read());
    await pass(30.1);
    assert.equal(last.state, 'TIMEOUT');
  });
});
