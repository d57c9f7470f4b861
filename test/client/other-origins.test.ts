/** A server that would have its clients go elsewhere: to another server, or into the network of their device. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { createClient, PoproomError, type Room } from '../../src/client/index.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { startTestServer } from '../support/server.ts';

const pin = '0427';
const apiKey = 'pop_secret';
const id = '0123456789abcdef0123456789abcdef';
const info = { roomId: '7KQ2MX', expiresAt: '2026-11-16T09:30:00.000Z', hasPin: true, deviceCount: 1 };

describe('a redirect', () => {
  const calls: Record<string, (room: Room) => Promise<unknown>> = {
    info: (room) => room.info(),
    read: (room) => room.read(),
    write: (room) => room.write('x'),
    edit: (room) => room.append('x'),
    history: (room) => room.history(),
    files: (room) => room.files(),
    'upload of a Blob': (room) => room.upload(new Blob(['x']), { name: 'x' }),
    'upload of a stream': (room) => room.upload(new Blob(['x']).stream(), { name: 'x' }),
    download: (room) => room.download({ fileUrl: `https://pop.example.org/files/${id}/x` }),
    removeFile: (room) => room.removeFile(id),
    delete: (room) => room.delete(),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(`[SDK-16] to another origin is not followed, so neither PIN nor key is sent there: ${name}`, async (t) => {
      const elsewhere = await startRecorder(t);
      for (const status of [301, 302, 303, 307, 308]) {
        const url = await startRedirector(t, status, () => `${elsewhere.url}/api/rooms/7KQ2MX`);
        const error = await failure(call(createClient({ url, apiKey }).room('7KQ2MX', { pin })));
        assert.equal(error.code, 'INVALID_RESPONSE');
        assert.ok(error.message.includes(elsewhere.url), error.message);
        assert.deepEqual(error.details, { status, location: elsewhere.url });
      }
      assert.deepEqual(elsewhere.requests, []);
    });
  }

  it('[SDK-16] of a live channel is not followed either', async (t) => {
    const elsewhere = await startRecorder(t);
    const url = await startRedirector(t, 307, () => `${elsewhere.url}/api/rooms/7KQ2MX`);
    const live = createClient({ url, apiKey }).room('7KQ2MX', { pin }).live();
    for await (const event of live) {
      if (event.type !== 'waiting') continue;
      assert.equal(event.error.code, 'INVALID_RESPONSE');
      break;
    }
    assert.deepEqual(elsewhere.requests, []);
  });

  it('[SDK-16] of a read within the origin is followed, with the PIN and the key', async (t) => {
    const own = await startRecorder(t, ({ url }) => (url === '/moved' ? undefined : '/moved'));
    assert.deepEqual(await createClient({ url: own.url, apiKey }).room('7KQ2MX', { pin }).info(), info);
    assert.deepEqual(
      own.requests.map(({ url, headers }) => [url, headers['x-room-pin'], headers.authorization]),
      ['/api/rooms/7KQ2MX', '/moved'].map((path) => [path, pin, `Bearer ${apiKey}`]),
    );
  });

  it('[SDK-16] that loops or has an invalid target is an error', async (t) => {
    for (const location of [
      '/again',
      'http://',
      '',
      'javascript:alert(1)',
      'data:text/plain,x',
      'file:///etc/passwd',
    ]) {
      const url = await startRedirector(t, 302, () => location);
      assert.equal((await failure(createClient({ url }).room('7KQ2MX').info())).code, 'INVALID_RESPONSE', location);
    }
  });

  it('[SDK-16] from https to http, or to another port, is a redirect to another origin', async (t) => {
    const asked: string[] = [];
    t.mock.method(globalThis, 'fetch', async (url: string) => {
      asked.push(url);
      return new Response(null, { status: 307, headers: { Location: targets.shift() ?? '' } });
    });
    const targets = ['http://pop.example.org/', 'https://pop.example.org:8443/', 'https://other.example.org/'];
    for (const target of [...targets]) {
      const error = await failure(createClient({ url: 'https://pop.example.org', apiKey }).room('7KQ2MX').info());
      assert.equal(error.details.location, new URL(target).origin);
    }
    assert.deepEqual([...new Set(asked)], ['https://pop.example.org/api/rooms/7KQ2MX']);
  });
});

describe('the URL of a file', () => {
  it('[SDK-17] is requested from the server itself, whatever its origin', async (t) => {
    const inside = await startRecorder(t);
    const own = await startRecorder(t);
    const room = createClient({ url: `${own.url}/share/`, apiKey }).room('7KQ2MX', { pin });
    const host = inside.url.replace('http:', '');
    const addresses = [`${inside.url}/files/${id}/a%20b.txt`, `${host}/${id}/a%20b.txt?download`, `/${id}/a%20b.txt#x`];
    for (const fileUrl of addresses) await (await room.download({ fileUrl })).text();
    assert.deepEqual(inside.requests, []);
    for (const { url, headers } of own.requests) {
      assert.equal(url, `/share/files/${id}/a%20b.txt`);
      assert.deepEqual([headers['x-room-pin'], headers.authorization], [undefined, undefined]);
    }
    assert.equal(own.requests.length, addresses.length);
  });

  it('[SDK-17] that no file can have is an error, and nothing is requested', async (t) => {
    const inside = await startRecorder(t);
    const own = await startRecorder(t);
    const room = createClient({ url: own.url }).room('7KQ2MX');
    const odd = [
      '/',
      '/admin/reboot?now',
      `/files/${id}`,
      `/files/${id}/`,
      `/files/${id.toUpperCase()}/a`,
      `/${id}/a/b`,
    ];
    const addresses = [
      ...odd.map((path) => inside.url + path),
      'file:///etc/passwd',
      'data:,x',
      'blob:x',
      '',
      '\\\\host\\x',
    ];
    for (const fileUrl of addresses)
      assert.equal((await failure(room.download({ fileUrl }))).code, 'INVALID_RESPONSE', fileUrl);
    assert.deepEqual([inside.requests, own.requests], [[], []]);
  });

  it('[SDK-17] [FILE-6] works if the server uses another origin for files', async (t) => {
    const { url } = await startTestServer(t, { POPROOM_FILES_URL: 'https://bytes.example.net/pop' });
    const room = await createClient({ url }).createRoom();
    const uploaded = await room.upload(new Blob(['bytes']), { name: 'a b.txt' });
    assert.match(uploaded.fileUrl, /^https:\/\/bytes\.example\.net\/pop\//);
    assert.equal(await (await room.download(uploaded)).text(), 'bytes');
    const [listed] = await room.files();
    assert.equal(await (await room.download(listed ?? uploaded)).text(), 'bytes');
  });
});

async function failure(promise: Promise<unknown>): Promise<PoproomError> {
  return promise.then(
    () => assert.fail('it did not fail'),
    (error) => {
      assert.ok(error instanceof PoproomError, String(error));
      return error;
    },
  );
}

interface Recorder {
  url: string;
  requests: Pick<IncomingMessage, 'url' | 'headers'>[];
}

/** Answers as a room does, or by a redirect where there is a target. */
async function startRecorder(
  t: TestContext,
  target: (request: IncomingMessage) => string | undefined = () => undefined,
): Promise<Recorder> {
  const requests: Recorder['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    const location = target(request);
    if (location) response.writeHead(307, { Location: location }).end();
    else response.end(JSON.stringify(info));
  });
  server.on('upgrade', (request, socket) => {
    requests.push({ url: request.url, headers: request.headers });
    socket.destroy();
  });
  return { url: await listenOnFreePort(t, server), requests };
}

/** Sends every request away, except the one that asks whether it is there. */
async function startRedirector(t: TestContext, status: number, target: () => string): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/livez') return response.end('{"status":"ok"}');
    return request.resume().on('end', () => response.writeHead(status, { Location: target() }).end());
  });
  server.on('upgrade', (_, socket) => {
    socket.end(`HTTP/1.1 ${status} Elsewhere\r\nLocation: ${target()}\r\nContent-Length: 0\r\n\r\n`);
  });
  return listenOnFreePort(t, server);
}
