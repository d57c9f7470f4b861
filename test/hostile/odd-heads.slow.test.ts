/** Unusual request heads that no honest client sends: each receives a response. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { apiKeysOf } from '../support/keys.ts';
import { requestLines, requestRaw, sendRaw } from '../support/raw-http.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { countRooms } from '../support/store-inspector.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const get = (...headers: string[]) => requestLines('GET /livez HTTP/1.1', 'Host: x', ...headers);
const last = requestLines('GET /livez HTTP/1.1', 'Host: x', 'Connection: close');
/** Makes a room, where it is taken for a request. */
const smuggled = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', 'Content-Length: 0', 'Connection: close');

const malformedHeads: Record<string, string> = {
  '20 kB of headers in many lines': get(...Array.from({ length: 20 }, (_, i) => `X-${i}: ${'y'.repeat(1000)}`)),
  '3,000 headers': get(...Array<string>(3000).fill('A: b')),
  '3,000 headers of two bytes': get(...Array<string>(3000).fill('A:')),
  'a line feed for a line end': 'GET /livez HTTP/1.1\nHost: x\r\n\r\n',
  'a line feed between headers': 'GET /livez HTTP/1.1\r\nHost: x\nX-Y: z\r\n\r\n',
  'a line feed at the end': 'GET /livez HTTP/1.1\r\nHost: x\r\n\n',
  'a carriage return between headers': 'GET /livez HTTP/1.1\r\nHost: x\rX-Y: z\r\n\r\n',
  'a NUL in the name of a header': get('X\0Y: z'),
  'a control character in a header': get('X-Y: \x01'),
  'a DEL in a header': get('X-Y: \x7f'),
  'a header without a name': get(': z'),
  'a header whose name is not ASCII': get('\xe9: z'),
  'a header that goes on with a tab': get('X-Y: a', '\tb'),
  'a first header that goes on': requestLines('GET /livez HTTP/1.1', ' Host: x'),
  'a space before a colon': get('X-Y : z'),
  'a path that is not ASCII': requestLines('GET /\xff\xfe HTTP/1.1', 'Host: x'),
  'a DEL in the path': requestLines('GET /\x7f HTTP/1.1', 'Host: x'),
  'tabs in the first line': requestLines('GET\t/livez\tHTTP/1.1', 'Host: x'),
  'a space after the version': requestLines('GET /livez HTTP/1.1 ', 'Host: x'),
  'a method of 100 kB': requestLines(`${'A'.repeat(100_000)} /livez HTTP/1.1`, 'Host: x'),
  'a method that begins like a known one': requestLines('GETS /livez HTTP/1.1', 'Host: x'),
  'a path of 100 kB': requestLines(`GET /${'a'.repeat(100_000)} HTTP/1.1`, 'Host: x'),
};

const otherProtocols: Record<string, string> = {
  'HTTP/0.9': 'GET /livez\r\n\r\n',
  'HTTP/1.2': requestLines('GET /livez HTTP/1.2', 'Host: x'),
  'HTTP/2.0 in a request of 1.1': requestLines('GET /livez HTTP/2.0', 'Host: x'),
  'http/1.1 in small letters': requestLines('GET /livez http/1.1', 'Host: x'),
  'HTTP/2 with its first frame': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0d',
  'a ClientHello of TLS': `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\xa5'.repeat(32)}\x20${'\x5a'.repeat(470)}`,
  'the first byte of TLS': '\x16',
  SSH: 'SSH-2.0-OpenSSH_10.0\r\n',
  SMTP: 'EHLO example.org\r\nMAIL FROM:<a@example.org>\r\n',
  'a command of Redis': '*1\r\n$4\r\nPING\r\n',
  'the header of a proxy': 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n',
  NULs: '\0'.repeat(1000),
};

/** Well-formed by the parser's book. */
const refusedTargets: Record<string, string> = {
  'a whole address': requestLines('GET http://x/livez HTTP/1.1', 'Host: x'),
  'a whole address of another host': requestLines('GET https://evil.example/livez HTTP/1.1', 'Host: x'),
  'a whole address in capitals': requestLines('GET HTTP://X/livez HTTP/1.1', 'Host: x'),
  'a whole address of a channel': requestLines('GET http://x/api/rooms/7KQ2MX/live HTTP/1.1', 'Host: x', ...upgrade()),
  'another scheme': requestLines('GET ftp://x/livez HTTP/1.1', 'Host: x'),
  'a host alone': requestLines('GET x:80 HTTP/1.1', 'Host: x'),
  'an asterisk': requestLines('GET * HTTP/1.1', 'Host: x'),
  'an asterisk for the options': requestLines('OPTIONS * HTTP/1.1', 'Host: x'),
};

const refusedHosts: Record<string, string> = {
  'no Host': requestLines('GET /livez HTTP/1.1'),
  'no Host in a preflight': requestLines('OPTIONS /api/rooms HTTP/1.1'),
  'no Host at an unknown path': requestLines('GET /nothing HTTP/1.1'),
  'two Hosts': requestLines('GET /livez HTTP/1.1', 'Host: x', 'Host: y'),
  'the same Host twice': requestLines('GET /livez HTTP/1.1', 'Host: x', 'Host: x'),
  'two Hosts in HTTP/1.0': requestLines('GET /livez HTTP/1.0', 'Host: x', 'Host: y', 'Connection: keep-alive'),
  'two Hosts in one': requestLines('GET /livez HTTP/1.1', 'Host: x, y'),
  'two Hosts in a preflight': requestLines('OPTIONS /api/rooms HTTP/1.1', 'Host: x', 'Host: y'),
  'two Hosts at a channel': requestLines('GET /api/rooms/7KQ2MX/live HTTP/1.1', 'Host: x', 'Host: y', ...upgrade()),
  'no Host at a channel': requestLines('GET /api/rooms/7KQ2MX/live HTTP/1.1', ...upgrade()),
};

describe('the head of a request', () => {
  const tables = { malformedHeads, otherProtocols, refusedTargets };
  for (const [table, heads] of Object.entries(tables)) {
    it(`[ERR-5] [ERR-1] is rejected and its connection closed: ${Object.keys(heads).length} ${table}`, async (t) => {
      const server = await startTestServer(t, noLimit);
      await assertRefused(server, (bytes) => requestRaw(t, server.port, bytes), heads);
    });
  }

  it('[LINK-1] [ERR-1] is rejected if its Host is missing or duplicated, with and without a public URL', async (t) => {
    for (const env of [noLimit, { ...noLimit, POPROOM_PUBLIC_URL: 'https://pop.example' }]) {
      const server = await startTestServer(t, env);
      await assertRefused(server, (bytes) => requestRaw(t, server.port, bytes), refusedHosts);
    }
  });

  it('[KEY-2] [ERR-3] is not interpreted by the first of two headers', async (t) => {
    const server = await startTestServer(t, noLimit);
    const key = await apiKeysOf(t, server).make('mine', 'pro');
    const keys = [`Authorization: Bearer ${key}`, 'Authorization: Bearer other'];
    const health = requestLines('GET /api/health HTTP/1.1', 'Host: x', ...keys, 'Connection: close');
    assertError(await requestRaw(t, server.port, health), 401, 'INVALID_API_KEY');
    const types = ['Content-Type: application/json', 'Content-Type: text/plain', 'Content-Length: 2'];
    const room = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', ...types, 'Connection: close');
    assertError(await requestRaw(t, server.port, `${room}{}`), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('an Upgrade', () => {
  it('[ERR-1] that is ignored is answered, and ends the connection, because bytes after it may be lost', async (t) => {
    const { port } = await startTestServer(t, noLimit);
    for (const protocol of ['h2c', 'websocket', 'TLS/1.0', 'websocket, h2c', 'a/b; c="d"', ',']) {
      const head = get('Connection: Upgrade', `Upgrade: ${protocol}`);
      const response = await requestRaw(t, port, head + last);
      assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close'], protocol);
    }
  });

  it('[ERR-5] [ERR-1] with an invalid value is rejected', async (t) => {
    const server = await startTestServer(t, noLimit);
    const rubbish = Object.fromEntries(['\x01', 'web\0socket', 'a\x7f'].map((it) => [it, get(`Upgrade: ${it}`)]));
    await assertRefused(server, (bytes) => requestRaw(t, server.port, bytes), rubbish);
  });

  it('[LIVE-1] [ERR-1] to a channel must have no body and use HTTP/1.1', async (t) => {
    const { api, port } = await startTestServer(t, noLimit);
    const path = `/api/rooms/${await api.room()}/live`;
    const odd = {
      'a body': `${requestLines(`GET ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 5', ...upgrade())}hello`,
      chunks: `${requestLines(`GET ${path} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: chunked', ...upgrade())}0\r\n\r\n`,
      'HTTP/1.0': requestLines(`GET ${path} HTTP/1.0`, 'Host: x', ...upgrade()),
    };
    for (const [name, bytes] of Object.entries(odd)) {
      assertError(await requestRaw(t, port, bytes), 400, 'VALIDATION_FAILED', name);
    }
  });

  it('[LIVE-1] [ERR-1] to a channel that does not exist returns the common error format', async (t) => {
    const { api, port } = await startTestServer(t, noLimit);
    const path = `/api/rooms/${await api.room()}/live`;
    for (const protocol of ['', ',', 'a,,b', 'a b', 'a, a', '"']) {
      const head = requestLines(`GET ${path} HTTP/1.1`, 'Host: x', ...upgrade(), `Sec-WebSocket-Protocol: ${protocol}`);
      assertError(await requestRaw(t, port, head), 400, 'VALIDATION_FAILED', protocol);
    }
  });

  it('[LIVE-1] [ERR-1] to a channel must be a GET, and HEAD is answered without a body', async (t) => {
    const { api, port } = await startTestServer(t, noLimit);
    const socket = await openRawSocket(t, port);
    await socket.send(requestLines(`HEAD /api/rooms/${await api.room()}/live HTTP/1.1`, 'Host: x', ...upgrade()));
    await socket.closed();
    assert.match(socket.unread(), /^HTTP\/1\.1 426 .*X-Request-Id: .*\r\n\r\n$/s);
  });
});

describe('an Expect', () => {
  it('[ERR-1] with another value does not affect the body', async (t) => {
    const { port } = await startTestServer(t, noLimit);
    for (const expected of ['miracles', '200-ok', '', 'x'.repeat(5000)]) {
      const length = ['Content-Type: application/json', 'Content-Length: 2'];
      const head = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', ...length, `Expect: ${expected}`);
      const responses = await sendRaw(t, port, `${head}{}${last}`);
      assert.deepEqual(
        responses.map(({ status }) => status),
        [201, 200],
        expected,
      );
    }
  });

  it('[ERR-1] in HTTP/1.0 is not answered with 100 Continue', async (t) => {
    const { port } = await startTestServer(t, noLimit);
    const length = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue'];
    const response = await requestRaw(t, port, `${requestLines('POST /api/rooms HTTP/1.0', 'Host: x', ...length)}{}`);
    assert.equal(response.status, 201);
  });
});

describe('invalid bytes after a valid request', () => {
  it('[ERR-5] are rejected and end the connection; the request was either served or not', async (t) => {
    const server = await startTestServer(t, noLimit);
    const good = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', 'Content-Length: 0');
    for (const rubbish of ['\0\0', 'garbage\r\n\r\n', '{}', 'HTTP/1.1 200 OK\r\n\r\n', '\x16\x03\x01']) {
      const socket = await openRawSocket(t, server.port);
      await socket.send(Buffer.from(good + rubbish, 'latin1'));
      await socket.closed();
      assert.match(socket.unread(), /"code":"VALIDATION_FAILED"/);
      assert.ok(socket.unread().split('HTTP/1.1 ').length <= 3, 'two answers at the most');
    }
    assert.ok((await countRooms(server)) <= 5);
    assert.ok(!server.logged().includes('"level":"error"'), server.logged());
  });
});

function upgrade(): string[] {
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  return ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key];
}

type Ask = (bytes: string) => ReturnType<typeof requestRaw>;

/** Each alone, and with a good request behind it, which is not served any more. */
async function assertRefused(server: TestServer, ask: Ask, heads: Record<string, string>): Promise<void> {
  for (const [name, bytes] of Object.entries(heads)) {
    for (const response of [await ask(bytes), await ask(bytes + smuggled)]) {
      assertError(response, 400, 'VALIDATION_FAILED', name);
      assert.equal(response.headers.get('connection'), 'close', name);
    }
  }
  assert.equal(await countRooms(server), 0);
  assert.equal((await server.api.get('/api/health')).status, 200);
  assert.ok(!server.logged().includes('"level":"error"'), server.logged());
}
