/**
 * Requests whose end can be seen in two places. Whoever disagrees with a proxy on that point takes the rest for a
 * request of its own, which somebody smuggled in; so each of these has another one behind it, which must not be served.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { requestLines, requestRaw, sendRaw } from '../support/raw-http.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { startTestServer } from '../support/server.ts';
import { countRooms } from '../support/store-inspector.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
/** Makes a room, where it is taken for a request. */
const smuggled = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', 'Content-Length: 0', 'Connection: close');
const post = (...headers: string[]) => requestLines(...postLines('1.1'), ...headers);
const postLines = (version: string) => [
  `POST /api/rooms HTTP/${version}`,
  'Host: x',
  'Content-Type: application/json',
  'Connection: keep-alive',
];
/** A body that no endpoint would take, so that the request itself makes no room. */
const chunks = '4\r\nnull\r\n0\r\n\r\n';
const chunked = (body: string) => post('Transfer-Encoding: chunked') + body;

const twoLengths: Record<string, string> = {
  'chunks and then a length': post('Transfer-Encoding: chunked', 'Content-Length: 4') + chunks,
  'chunks and a length of nothing': post('Content-Length: 0', 'Transfer-Encoding: chunked') + chunks,
  'the same length twice': `${post('Content-Length: 4', 'Content-Length: 4')}null`,
  'a list of the same length': `${post('Content-Length: 4, 4')}null`,
  'a list of lengths': `${post('Content-Length: 4, 5')}null`,
  'a length with a sign': `${post('Content-Length: +4')}null`,
  'a length in hexadecimals': `${post('Content-Length: 0x4')}null`,
  'a length with a space inside': `${post('Content-Length: 4 4')}null`,
  'a length of no digits': `${post('Content-Length:')}null`,
  'a length with a decimal': `${post('Content-Length: 4.0')}null`,
  'a length with a space before its colon': `${post('Content-Length : 4')}null`,
  'a length on a second line': `${post('Content-Length:', ' 4')}null`,
  'chunks with a tab before the colon': post('Transfer-Encoding\t: chunked') + chunks,
  'chunks twice in one line': post('Transfer-Encoding: chunked, chunked') + chunks,
  'chunks twice in two lines': post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + chunks,
  'no coding but a header for it': post('Transfer-Encoding:') + chunks,
  identity: post('Transfer-Encoding: identity') + chunks,
  'a coding that ends like chunked': post('Transfer-Encoding: xchunked') + chunks,
  'chunked behind a control character': post('Transfer-Encoding: \x0bchunked') + chunks,
  'chunked with a parameter': post('Transfer-Encoding: chunked;q=1') + chunks,
  'chunked in quotes': post('Transfer-Encoding: "chunked"') + chunks,
  'a length that a bare line feed hides': `${post('X-Y: z\nContent-Length: 4')}null`,
  'a length that a bare carriage return hides': `${post('X-Y: z\rContent-Length: 4')}null`,
  'chunks in HTTP/1.0': requestLines(...postLines('1.0'), 'Transfer-Encoding: chunked') + chunks,
  'chunks and a length in HTTP/1.0': `${requestLines(...postLines('1.0'), 'Transfer-Encoding: chunked', 'Content-Length: 4')}null`,
};

/** The head is sound, and the body is not. */
const badChunks: Record<string, string> = {
  'a size beyond 64 bits': chunked(`1${'0'.repeat(15)}4\r\nnull\r\n0\r\n\r\n`),
  'a negative size': chunked('-4\r\nnull\r\n0\r\n\r\n'),
  'a size with a sign': chunked('+4\r\nnull\r\n0\r\n\r\n'),
  'a size with a prefix': chunked('0x4\r\nnull\r\n0\r\n\r\n'),
  'a size after a space': chunked(' 4\r\nnull\r\n0\r\n\r\n'),
  'a size before a space': chunked('4 \r\nnull\r\n0\r\n\r\n'),
  'no size': chunked('\r\nnull\r\n0\r\n\r\n'),
  'a bare line feed after a size': chunked('4\nnull\r\n0\r\n\r\n'),
  'a bare line feed after a chunk': chunked('4\r\nnull\n0\r\n\r\n'),
  'nothing after a chunk': chunked('4\r\nnull0\r\n\r\n'),
  'a bare line feed at the end': chunked('4\r\nnull\r\n0\r\n\n'),
  'an extension of 20 kB': chunked(`4;a=${'b'.repeat(20_000)}\r\nnull\r\n0\r\n\r\n`),
  'an extension with a NUL': chunked('4;a=\0\r\nnull\r\n0\r\n\r\n'),
  'an extension that a bare line feed ends': chunked('4;a\nnull\r\n0\r\n\r\n'),
  'trailers of 20 kB': chunked(`4\r\nnull\r\n0\r\nX-Y: ${'y'.repeat(20_000)}\r\n\r\n`),
  '4,000 trailers': chunked(`4\r\nnull\r\n0\r\n${'A: b\r\n'.repeat(4000)}\r\n`),
  'a length in a trailer': chunked('4\r\nnull\r\n0\r\nContent-Length: 4\r\n\r\n'),
  'a coding in a trailer': chunked('4\r\nnull\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'),
  'a trailer with a space before its colon': chunked('4\r\nnull\r\n0\r\nX-Y : z\r\n\r\n'),
};

describe('a request with ambiguous framing', () => {
  it('[ERR-5] [ERR-1] is rejected, and nothing after it is served', async (t) => {
    const server = await startTestServer(t, noLimit);
    for (const [name, bytes] of Object.entries(twoLengths)) {
      const response = await requestRaw(t, server.port, bytes + smuggled);
      assertError(response, 400, 'VALIDATION_FAILED', name);
      assert.equal(response.headers.get('connection'), 'close', name);
    }
    assert.equal(await countRooms(server), 0);
    assert.equal((await server.api.get('/api/health')).status, 200);
  });

  it('[ERR-5] [ERR-1] is rejected, wherever its bytes are split', async (t) => {
    const server = await startTestServer(t, noLimit);
    const random = seededRandom(t);
    for (const [name, bytes] of Object.entries({ ...twoLengths, ...badChunks })) {
      const socket = await openRawSocket(t, server.port);
      const cut = 1 + random.number(bytes.length - 1);
      await socket.send(Buffer.from(bytes.slice(0, cut), 'latin1'));
      await server.api.get('/livez');
      await socket.send(Buffer.from(bytes.slice(cut) + smuggled, 'latin1'));
      assert.equal((await socket.response()).code, 'VALIDATION_FAILED', name);
      await socket.closed();
    }
    assert.equal(await countRooms(server), 0);
  });

  it('[ERR-5] returns 400 if it also has an encoding, whatever its method, and nothing after it is served', async (t) => {
    const server = await startTestServer(t, noLimit);
    for (const coding of ['gzip, chunked', 'identity, chunked', 'x, y, chunked']) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT']) {
        const coded = requestLines(`${method} /api/rooms/7KQ2MX HTTP/1.1`, 'Host: x', `Transfer-Encoding: ${coding}`);
        const response = await requestRaw(t, server.port, coded + chunks + smuggled);
        assertError(response, 400, 'VALIDATION_FAILED', `${method} ${coding}`);
      }
    }
    assert.equal(await countRooms(server), 0);
  });
});

describe('a body with malformed chunks', () => {
  it('[ERR-5] [ERR-1] is rejected, and nothing after it is served', async (t) => {
    const server = await startTestServer(t, noLimit);
    for (const [name, bytes] of Object.entries(badChunks)) {
      assertError(await requestRaw(t, server.port, bytes + smuggled), 400, 'VALIDATION_FAILED', name);
    }
    assert.equal(await countRooms(server), 0);
    assert.equal((await server.api.get('/api/health')).status, 200);
  });

  it('[ERR-6] [ERR-5] is not logged as a failure of the server, which would fill the log', async (t) => {
    const server = await startTestServer(t, noLimit);
    for (const bytes of Object.values(badChunks)) await requestRaw(t, server.port, bytes);
    assert.ok(!server.logged().includes('"level":"error"'), server.logged());
    assert.ok(!server.logged().includes('"status":500'), server.logged());
  });

  it('[RUN-7] is rejected when it has sent too much, whatever size it announces', async (t) => {
    const server = await startTestServer(t, noLimit);
    const socket = await openRawSocket(t, server.port);
    await socket.send(chunked(`ffffffffffffffff\r\n${' '.repeat(17_000)}`));
    assert.equal((await socket.response()).code, 'CONTENT_TOO_LARGE');
    await socket.closed();
  });
});

describe('a body with unusual but valid chunks', () => {
  it('[ERR-1] is read completely, and the bytes after it are a request', async (t) => {
    const server = await startTestServer(t, noLimit);
    const sound: Record<string, string> = {
      capitals: `${post('TRANSFER-ENCODING: Chunked')}2\r\n{}\r\n0\r\n\r\n`,
      extensions: chunked('1;a=b\r\n{\r\n1;c="d;e"\r\n}\r\n0;f\r\n\r\n'),
      'leading zeros': chunked(`${'0'.repeat(5000)}2\r\n{}\r\n0\r\n\r\n`),
      'hexadecimals in capitals': chunked(`0000000A\r\n{        }\r\n0\r\n\r\n`),
    };
    for (const [name, bytes] of Object.entries(sound)) {
      assert.deepEqual((await sendRaw(t, server.port, bytes + smuggled)).map(statusOf), [201, 201], name);
    }
  });

  it('[PIN-3] [ERR-1] may have trailers, which are ignored', async (t) => {
    const { api, port } = await startTestServer(t, noLimit);
    const room = await api.room({ pin: '0427' });
    const head = requestLines(
      `DELETE /api/rooms/${room} HTTP/1.1`,
      'Host: x',
      'Transfer-Encoding: chunked',
      'Trailer: X-Room-Pin',
    );
    const trailers = '0\r\nX-Room-Pin: 0427\r\nHost: y\r\nX-API-Key: z\r\n\r\n';
    const last = requestLines('GET /livez HTTP/1.1', 'Host: x', 'Connection: close');
    const responses = await sendRaw(t, port, head + trailers + last);
    assert.deepEqual(responses.map(statusOf), [401, 200]);
    assert.equal((await api.get(`/api/rooms/${room}`, { pin: '0427' })).status, 200);
  });
});

const statusOf = ({ status }: ApiResponse) => status;
