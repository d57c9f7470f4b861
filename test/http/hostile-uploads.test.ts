/** Malformed, interrupted and hostile uploads: each receives its error code, and nothing remains. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventually } from '../support/eventually.ts';
import { boundary, closingBoundary, field, filePart, form, formType, partHead } from '../support/form.ts';
import { chunk, lastChunk, openRawSocket, type RawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertNothingStored, storedBlobs, unfinishedBlobs } from '../support/stored-blobs.ts';
import { streamed } from '../support/streamed-body.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const kB = 1024;

interface Hostile {
  what: string;
  type?: string;
  body: string | Uint8Array;
  /** The error message must match this, to explain the mistake. */
  says: RegExp;
}

const malformedForms: Hostile[] = [
  { what: 'without a boundary', type: 'multipart/form-data', body: form(filePart('x')), says: /boundary/ },
  { what: 'with an empty boundary', type: 'multipart/form-data; boundary=', body: emptyBoundary(), says: /boundary/ },
  {
    what: 'with an empty quoted one',
    type: 'multipart/form-data; boundary=""',
    body: emptyBoundary(),
    says: /boundary/,
  },
  {
    what: 'with another boundary',
    type: 'multipart/form-data; boundary=other',
    body: form(filePart('x')),
    says: /form/,
  },
  { what: 'without a body', body: '', says: /form/ },
  { what: 'without a part', body: closingBoundary, says: /has no file/ },
  { what: 'without a file', body: form(field('pin', '0427')), says: /has no file/ },
  { what: 'with a text where the file should be', body: form(field('file', 'hello')), says: /"file" must be a file/ },
  { what: 'with no file chosen', body: form(filePart('', '')), says: /has no file/ },
  { what: 'with two files', body: form(filePart('one'), filePart('two')), says: /one file/ },
  { what: 'with the file in another part', body: form(otherPart('x')), says: /"file", not "other"/ },
  {
    what: 'with a second file in another part',
    body: form(filePart('one'), otherPart('x')),
    says: /"file", not "other"/,
  },
  {
    what: 'with an unknown field before the file',
    body: form(field('who', 'me'), filePart('x')),
    says: /unknown field "who"/,
  },
  {
    what: 'with an unknown field after the file',
    body: form(filePart('x'), field('who', 'me')),
    says: /unknown field "who"/,
  },
  { what: 'with a huge field', body: form(field('pin', '1'.repeat(500 * kB)), filePart('x')), says: /too much/ },
  { what: 'with a long PIN', body: form(field('pin', '1'.repeat(5 * kB)), filePart('x')), says: /"pin" is too long/ },
  { what: 'with a huge name of a field', body: form(field('n'.repeat(9 * kB), 'x')), says: /unknown field "n{60}"/ },
  { what: 'with 1,000 fields', body: form(filePart('x'), ...many(field('pin', '0427'))), says: /too many/ },
  { what: 'with 1,000 files', body: form(...many(filePart('x'))), says: /one file/ },
  { what: 'with 1,000 parts of no name', body: form(...many(namelessPart()), filePart('x')), says: /""/ },
  { what: 'with 500 kB of part headers', body: form(hugeHeader(500 * kB)), says: /too much/ },
  { what: 'with 50,000 part headers', body: form(manyHeaders(50_000)), says: /too much/ },
  { what: 'truncated within the file', body: form(filePart('hello')).subarray(0, -15), says: /incomplete/ },
  { what: 'truncated within the last boundary', body: form(filePart('hello')).subarray(0, -5), says: /incomplete/ },
  { what: 'truncated within the part headers', body: partHead(filePart('')).subarray(0, -5), says: /incomplete/ },
  { what: 'with a line break in the file name', body: form(filePart('x', 'a\nb.txt')), says: /has no file/ },
  { what: 'of rubbish', body: Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251)), says: /form/ },
];

describe('a malformed form', () => {
  it('[slow] [UP-1] [UP-6] is rejected with a sentence about the problem, and leaves nothing', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    for (const { what, type = formType, body, says } of malformedForms) {
      for (const sent of [Buffer.from(body), streamed(body)]) {
        const headers = { 'content-type': type };
        const { status, code, json } = await server.api.post(`/api/rooms/${room}/upload`, { body: sent, headers });
        assert.deepEqual([status, code], [400, 'VALIDATION_FAILED'], what);
        assert.match(json.error.message, says, what);
        await assertNothingStored(server, room);
      }
    }
    assert.ok(!server.logged().includes('request failed'), 'a bad form is not an error of the server');
  });
});

describe('an invalid upload', () => {
  it('[ERR-3] [UP-6] is rejected without a content type', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const socket = await openRawSocket(t, server.port);
    const headers = { 'X-File-Name': 'a.txt', 'Content-Length': 5 };
    await socket.send(`${requestHead('POST', `/api/rooms/${room}/upload`, headers)}hello`);
    const { status, code } = await socket.response();
    assert.deepEqual([status, code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    await assertNothingStored(server, room);
  });

  it('[ERR-3] [UP-6] is rejected if it is compressed', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const coded = { 'content-encoding': encoding };
      const bare = await server.api.upload(room, 'a.txt', gzipSync('hello'), { headers: coded });
      assert.deepEqual([bare.status, bare.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
      const body = gzipSync(form(filePart('hello')));
      const headers = { 'content-type': formType, ...coded };
      assert.equal(
        (await server.api.post(`/api/rooms/${room}/upload`, { body, headers })).code,
        'UNSUPPORTED_MEDIA_TYPE',
      );
    }
    await assertNothingStored(server, room);
    assert.equal(
      (await server.api.upload(room, 'a.txt', 'x', { headers: { 'content-encoding': 'identity' } })).status,
      201,
    );
  });

  it('[UP-1] [UP-6] is rejected as raw bytes without a name, whatever its type', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    for (const type of ['application/json', 'multipart/mixed; boundary=x', 'multipart/form-data2', 'rubbish']) {
      const sending = { body: '{}', headers: { 'content-type': type } };
      const { status, code, json } = await server.api.post(`/api/rooms/${room}/upload`, sending);
      assert.deepEqual([status, code, json.error.details.field], [400, 'VALIDATION_FAILED', 'X-File-Name']);
    }
    await assertNothingStored(server, room);
  });

  it('[UP-6] leaves nothing if its room does not exist, or is deleted during the upload', async (t) => {
    const server = await startTestServer(t);
    assert.equal((await server.api.upload('000000', 'a.txt', 'x')).code, 'ROOM_NOT_FOUND');
    const body = form(filePart('x'));
    const headers = { 'content-type': formType };
    assert.equal((await server.api.post('/api/rooms/000000/upload', { body, headers })).code, 'ROOM_NOT_FOUND');
    for (const { begin, end } of slowUploads()) {
      const room = await server.api.room();
      const socket = await openRawSocket(t, server.port);
      await beginUpload(socket, server, room, begin);
      await server.api.delete(`/api/rooms/${room}`);
      await socket.send(end);
      assert.equal((await socket.response()).code, 'ROOM_NOT_FOUND');
      assert.deepEqual(await storedBlobs(server), []);
    }
  });
});

describe('an upload that is interrupted', () => {
  it('[UP-6] [RUN-7] leaves nothing when its sender disconnects in the middle', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    for (const { begin } of slowUploads()) {
      const socket = await openRawSocket(t, server.port);
      await beginUpload(socket, server, room, begin);
      socket.destroy();
      await assertNothingStored(server, room);
    }
    await eventually('both are noted', () => server.logged().split('"status":400').length === 3);
    assert.ok(!server.logged().includes('request failed'), 'a sender that leaves is not an error of the server');
  });

  it('[UP-6] [RUN-7] leaves nothing when its chunks become invalid, even if the sender stays connected', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const sockets: RawSocket[] = [];
    for (const { begin } of slowUploads()) {
      const socket = await openRawSocket(t, server.port, { allowHalfOpen: true });
      await beginUpload(socket, server, room, begin);
      sockets.push(socket);
    }
    for (const socket of sockets) await socket.send('this is no chunk\r\n');
    for (const socket of sockets) assert.equal((await socket.response()).code, 'VALIDATION_FAILED');
    await assertNothingStored(server, room);
  });

  it('[UP-6] is rejected when it ends before the announced length', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const begun = [
      { headers: { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt' }, body: 'hello' },
      { headers: { 'Content-Type': formType }, body: form(filePart('hello')).subarray(0, -15).toString() },
    ];
    for (const { headers, body } of begun) {
      const socket = await openRawSocket(t, server.port);
      const announcing = { ...headers, 'Content-Length': body.length + 1 };
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, announcing) + body);
      await eventually('the upload is in progress', async () => (await unfinishedBlobs(server)).length === 1);
      socket.endSending();
      assert.equal((await socket.response()).code, 'VALIDATION_FAILED');
      await assertNothingStored(server, room);
    }
  });

  it('[UP-6] leaves nothing, even if many are interrupted concurrently, and does not affect those that succeed', async (t) => {
    const server = await startTestServer(t, noLimit);
    const { api, port } = server;
    const room = await api.room();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openRawSocket(t, port)));
    const begun = slowUploads().map(({ begin }) => begin);
    await Promise.all(
      sockets.map((socket, i) => socket.send(Buffer.concat([uploadHead(room, i % 2), begun[i % 2] as Buffer]))),
    );
    const whole = Array.from({ length: 10 }, (_, i) => api.upload(room, `${i}.txt`, `text ${i}`));
    for (const socket of sockets) socket.destroy();
    for (const { status } of await Promise.all(whole)) assert.equal(status, 201);
    await eventually('all others are noted', () => server.logged().split('"status":400').length === 21);
    await eventually('nothing is unfinished', async () => (await unfinishedBlobs(server)).length === 0);
    assert.equal((await storedBlobs(server)).length, 10);
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 10);
  });
});

/** A bare upload and a form, each of which has begun and not ended. */
function slowUploads() {
  const [head, tail] = [partHead(filePart('')), Buffer.concat([Buffer.from('\r\n'), closingBoundary])];
  return [
    { begin: chunk('a'.repeat(200 * kB)), end: lastChunk },
    {
      begin: Buffer.concat([chunk(head), chunk('a'.repeat(200 * kB))]),
      end: Buffer.concat([chunk(tail), Buffer.from(lastChunk)]),
    },
  ];
}

function uploadHead(room: string, asForm: number): Buffer {
  const type = asForm ? { 'Content-Type': formType } : { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt' };
  return Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, { ...type, 'Transfer-Encoding': 'chunked' }));
}

/** Sends the beginning and waits until bytes of it are on the disk. */
async function beginUpload(socket: RawSocket, server: TestServer, room: string, begin: Buffer): Promise<void> {
  const asForm = begin.includes(boundary) ? 1 : 0;
  const { length: before } = await unfinishedBlobs(server);
  await socket.send(uploadHead(room, asForm));
  await socket.send(begin);
  await eventually('the upload is in progress', async () => (await unfinishedBlobs(server)).length > before);
}

function many<T>(part: T): T[] {
  return Array<T>(1000).fill(part);
}

function otherPart(body: string) {
  return { disposition: 'name="other"; filename="a.txt"', body };
}

function namelessPart() {
  return { disposition: 'x', body: 'x' };
}

function hugeHeader(size: number) {
  return { ...filePart('x'), headers: [`X-Long: ${'x'.repeat(size)}`] };
}

function manyHeaders(count: number) {
  return { ...filePart('x'), headers: Array.from({ length: count }, (_, i) => `X-${i}: 1`) };
}

function emptyBoundary(): string {
  return '--\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n----\r\n';
}
