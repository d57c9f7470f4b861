/** Requests that are barely HTTP, or not at all, receive the common error format. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { fromRawResponse, requestLines, requestRaw, sendRaw } from '../support/raw-http.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { countRooms } from '../support/store-inspector.ts';

const post = ['POST /api/rooms HTTP/1.1', 'Host: x', 'Content-Type: application/json'];

/** Requests that the HTTP parser rejects. */
const malformed: Record<string, string> = {
  'no request at all': 'hello\r\n\r\n',
  'the start of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'another version': requestLines('GET /api/health HTTP/3.0', 'Host: x'),
  'an unknown method': requestLines('FETCH /api/health HTTP/1.1', 'Host: x'),
  'a method in small letters': requestLines('get /api/health HTTP/1.1', 'Host: x'),
  'a space in the path': requestLines('GET /api/he alth HTTP/1.1', 'Host: x'),
  'a NUL in the path': requestLines('GET /api/\0 HTTP/1.1', 'Host: x'),
  'bare line feeds': 'GET /api/health HTTP/1.1\nHost: x\n\n',
  'a header without a colon': requestLines('GET /api/health HTTP/1.1', 'Host: x', 'nonsense'),
  'a header with a space in its name': requestLines('GET /api/health HTTP/1.1', 'Host : x'),
  'a header with a NUL': requestLines('GET /api/health HTTP/1.1', 'Host: x', 'X-Y: a\0b'),
  'a header on two lines': requestLines('GET /api/health HTTP/1.1', 'Host: x', 'X-Y: a', ' b'),
  'a header of 20 kB': requestLines('GET /api/health HTTP/1.1', 'Host: x', `X-Y: ${'y'.repeat(20_000)}`),
  '4,000 headers': requestLines('GET /api/health HTTP/1.1', 'Host: x', ...Array<string>(4000).fill('A: b')),
  'a path of 20 kB': requestLines(`GET /api/${'y'.repeat(20_000)} HTTP/1.1`, 'Host: x'),
  'a length that is none': `${requestLines(...post, 'Content-Length: two')}{}`,
  'a negative length': `${requestLines(...post, 'Content-Length: -2')}{}`,
  'a length beyond all numbers': `${requestLines(...post, `Content-Length: ${'9'.repeat(30)}`)}{}`,
  'two lengths': `${requestLines(...post, 'Content-Length: 2', 'Content-Length: 3')}{} `,
  'a length and chunks': `${requestLines(...post, 'Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'chunks that are not the last coding': `${requestLines(...post, 'Transfer-Encoding: chunked, gzip')}0\r\n\r\n`,
  'a chunk of no size': `${requestLines(...post, 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
  'a chunk that is longer than it says': `${requestLines(...post, 'Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`,
  CONNECT: requestLines('CONNECT example.org:443 HTTP/1.1', 'Host: example.org:443'),
};

describe('a request that the HTTP parser rejects', () => {
  it('[ERR-5] [ERR-1] receives an error in the common format', async (t) => {
    const server = await startTestServer(t);
    const { port, api } = server;
    for (const [name, bytes] of Object.entries(malformed)) {
      const response = await requestRaw(t, port, bytes);
      assertError(response, 400, 'VALIDATION_FAILED', name);
      assert.equal(response.headers.get('connection'), 'close');
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    }
    assert.equal(await countRooms(server), 0);
    assert.equal((await api.get('/api/health')).status, 200);
  });

  it('[ERR-5] receives a description of the problem if there is one', async (t) => {
    const { port } = await sharedServer(t);
    const messageOf = async (name: string) => (await requestRaw(t, port, malformed[name] ?? '')).json.error.message;
    assert.match(await messageOf('a header of 20 kB'), /16 KiB/);
    assert.match(await messageOf('an unknown method'), /method/);
    assert.match(await messageOf('CONNECT'), /CONNECT/);
  });

  it('[ERR-5] may follow a valid request, and is answered after it or instead of it', async (t) => {
    const { port } = await sharedServer(t);
    const socket = await openRawSocket(t, port);
    await socket.send(requestHead('GET', '/api/health'));
    assert.equal((await socket.response()).status, 200);
    await socket.send('nonsense\r\n\r\n');
    assertError(fromRawResponse(await socket.response()), 400, 'VALIDATION_FAILED');
    await socket.closed();
  });

  it('[ERR-5] never corrupts the bytes of a file that is being sent', async (t) => {
    const { api, port } = await sharedServer(t);
    const size = 10 * 1024 * 1024;
    const { fileUrl } = (await api.upload(await api.room(), 'zeros', Buffer.alloc(size))).json;
    const socket = await openRawSocket(t, port);
    await socket.send(requestHead('GET', new URL(fileUrl).pathname));
    await eventually('the response has started', () => socket.unread().includes('\r\n\r\n'));
    await socket.send('nonsense\r\n\r\n');
    await socket.closed();
    const [, ...rest] = socket.unread().split('\r\n\r\n');
    assert.match(rest.join('\r\n\r\n').slice(0, size), /^\0*$/);
  });

  it('[ERR-5] that is incomplete is not served', async (t) => {
    const { port, api } = await sharedServer(t);
    for (const bytes of [
      '',
      'GET',
      'GET /api/health HTTP/1.1\r\nHost:',
      `${requestLines(...post, 'Content-Length: 99')}{`,
    ]) {
      const socket = await openRawSocket(t, port);
      await socket.send(bytes);
      socket.destroy();
    }
    assert.equal((await api.get('/api/health')).status, 200);
  });
});

describe('an unusual but valid request', () => {
  it('[ERR-1] is rejected without a Host, as HTTP/1.1 requires', async (t) => {
    const { port } = await sharedServer(t);
    const response = await requestRaw(t, port, requestLines('GET /api/health HTTP/1.1', 'Connection: close'));
    assert.equal(assertError(response, 400, 'VALIDATION_FAILED').field, 'Host');
    assert.equal((await requestRaw(t, port, requestLines('GET /api/health HTTP/1.0'))).status, 200);
  });

  it('[ERR-4] must name its target as a path', async (t) => {
    const { port } = await sharedServer(t);
    const at = (target: string) =>
      requestRaw(t, port, requestLines(`GET ${target} HTTP/1.1`, 'Host: x', 'Connection: close'));
    for (const target of ['/api/health?', '/api/health?http://y/']) {
      assert.equal((await at(target)).status, 200, target);
    }
    for (const target of ['//api/health', '/api/health#x']) {
      assertError(await at(target), 404, 'NOT_FOUND', target);
    }
    for (const target of ['http://x/api/health', 'HTTP://x:80/api/health?a=b', '*', 'http://x', 'ftp://x/api/health']) {
      assertError(await at(target), 400, 'VALIDATION_FAILED', target);
    }
  });

  it('[ERR-1] is answered as if it had no Upgrade', async (t) => {
    const { port } = await sharedServer(t);
    const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
    const response = await requestRaw(t, port, requestLines('GET /api/health HTTP/1.1', 'Host: x', ...upgrade));
    assert.equal(response.json.status, 'healthy');
  });

  it('[ERR-1] is answered in order if many arrive together', async (t) => {
    const { port } = await sharedServer(t);
    const several = ['/api/health', '/api/nothing', '/livez', '/api/rooms/7KQ2MX'].map((path) =>
      requestHead('GET', path),
    );
    const last = requestHead('GET', '/docs', { Connection: 'close' });
    const responses = await sendRaw(t, port, several.join('') + last);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 404, 200, 404, 200],
    );
  });

  it('[ERR-1] receives 100 Continue when its body is acceptable', async (t) => {
    const { port } = await sharedServer(t);
    const socket = await openRawSocket(t, port);
    const head = { 'Content-Type': 'application/json', 'Content-Length': 2, Expect: '100-continue' };
    await socket.send(requestHead('POST', '/api/rooms', head));
    assert.equal((await socket.response()).status, 100);
    await socket.send('{}');
    assert.equal((await socket.response()).status, 201);
  });

  it('[ERR-1] is rejected before it sends a body that would be rejected', async (t) => {
    const { port } = await sharedServer(t);
    const json = { 'Content-Type': 'application/json', Expect: '100-continue' };
    const refused: [string, Record<string, string | number>, number, string][] = [
      ['/api/rooms', { ...json, 'Content-Length': 10_000_000 }, 413, 'CONTENT_TOO_LARGE'],
      ['/api/rooms', { ...json, 'Content-Type': 'text/plain', 'Content-Length': 2 }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['/api/nothing', { ...json, 'Content-Length': 2 }, 404, 'NOT_FOUND'],
      ['/api/health', { ...json, 'Content-Length': 2 }, 405, 'METHOD_NOT_ALLOWED'],
    ];
    for (const [path, headers, status, code] of refused) {
      const socket = await openRawSocket(t, port);
      await socket.send(requestHead('POST', path, headers));
      assertError(fromRawResponse(await socket.response()), status, code);
      await socket.closed();
    }
  });

  it('[ERR-1] may have another Expect, which is ignored', async (t) => {
    const { port } = await sharedServer(t);
    const expecting = requestLines(...post, 'Content-Length: 2', 'Expect: miracles', 'Connection: close');
    assert.equal((await requestRaw(t, port, `${expecting}{}`)).status, 201);
  });
});
