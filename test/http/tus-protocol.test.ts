/** Resumable uploads by the letter of tus 1.0: every malformed request has its status and leaves nothing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { chunk, lastChunk, openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertNothingStored, storedBlobs } from '../support/stored-blobs.ts';
import { createUpload, metadata, offsetOf, partType, pathIn, sendPart, startUpload, tus } from '../support/tus.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const sha1 = (text: string) => `sha1 ${createHash('sha1').update(text).digest('base64')}`;

describe('the version of tus', () => {
  it('[TUS-1] [TUS-3] is required by all requests except OPTIONS, and named by all responses', async (t) => {
    const { api, path, room } = await start(t, 5);
    for (const version of [undefined, '', '0.2.2', '1.0.1', '1.0.0, 1.0.0']) {
      const headers: Record<string, string> = version === undefined ? {} : { 'tus-resumable': version };
      const all = { ...partType, 'upload-length': '5', 'upload-offset': '0', ...headers };
      for (const [method, to] of [
        ['POST', `/api/rooms/${room}/uploads`],
        ['HEAD', path],
        ['PATCH', path],
        ['DELETE', path],
      ] as const) {
        const response = await api.call(method, to, { headers: all });
        assert.deepEqual([method, response.status], [method, 412]);
        assert.equal(response.headers.get('tus-version'), '1.0.0');
      }
    }
    for (const to of [path, `/api/rooms/${room}/uploads`]) {
      const options = await api.call('OPTIONS', to, { headers: { 'tus-resumable': '0.2.2' } });
      assert.deepEqual([options.status, options.headers.get('tus-version')], [204, '1.0.0']);
    }
    const found = await api.call('HEAD', path, { headers: tus });
    assert.deepEqual([found.headers.get('tus-resumable'), found.headers.get('cache-control')], ['1.0.0', 'no-store']);
    assert.deepEqual([found.headers.get('upload-length'), found.headers.get('upload-offset')], ['5', '0']);
    assert.equal(await storedBytes(api), 5, 'only the first upload was started');
  });
});

describe('a creation', () => {
  const malformed: Record<string, string>[] = [
    { 'upload-length': '' },
    { 'upload-length': '-1' },
    { 'upload-length': '1.5' },
    { 'upload-length': '0x10' },
    { 'upload-length': '5, 5' },
    { 'upload-length': '5', 'upload-defer-length': '1' },
    { 'upload-defer-length': '1' },
    { 'upload-concat': 'partial' },
    { 'upload-concat': 'final;/a /b' },
    { 'upload-metadata': 'filename A' },
    { 'upload-metadata': 'filename YQ==YQ==' },
    { 'upload-metadata': 'filename a-b_' },
    { 'upload-metadata': 'filename YQ==,filename Yg==' },
    { 'upload-metadata': 'file"name" YQ==, name  YQ==' },
  ];
  it('[TUS-3] with malformed headers is rejected, and leaves nothing', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    for (const headers of malformed) {
      const response = await createUpload(server.api, room, 5, headers);
      assert.deepEqual([JSON.stringify(headers), response.code], [JSON.stringify(headers), 'VALIDATION_FAILED']);
    }
    for (const length of ['10485761', '9'.repeat(15), '9'.repeat(17), '9'.repeat(400)]) {
      assertError(await createUpload(server.api, room, length), 413, 'FILE_TOO_LARGE');
    }
    await assertNothingLeft(server, room);
  });

  it('[TUS-3] without a room, or with repeated headers, is rejected', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    assertError(await createUpload(server.api, '000000', 5), 404, 'ROOM_NOT_FOUND');
    const twice = (line: string) =>
      requestRaw(
        t,
        server.port,
        requestLines(
          `POST /api/rooms/${room}/uploads HTTP/1.1`,
          ...['Host: localhost', 'Tus-Resumable: 1.0.0', 'Upload-Length: 5', 'Connection: close', line],
        ),
      );
    assertError(await twice('Upload-Length: 6'), 400, 'VALIDATION_FAILED');
    assertError(await twice('Tus-Resumable: 1.0.0'), 412, 'UNSUPPORTED_VERSION');
    assertError(await twice('Host: other'), 400, 'VALIDATION_FAILED');
    await assertNothingLeft(server, room);
  });

  it('[TUS-2] accepts metadata without values, unknown keys and long names, and returns it', async (t) => {
    const { api } = await startTestServer(t, noLimit);
    const room = await api.room();
    const name = `${'ä'.repeat(300)}.txt`;
    const path = await startUpload(api, room, 5, {
      'upload-metadata': `is_confidential, ${metadata({ other: 'x', filename: name })},filetype`,
    });
    const { headers } = await api.call('HEAD', path, { headers: tus });
    const stored = `${'ä'.repeat(125)}.txt`;
    const expected = metadata({ filename: stored, filetype: 'application/octet-stream' });
    assert.equal(headers.get('upload-metadata'), expected);
  });

  it('[TUS-2] names a URL of the server that an invalid Host cannot change', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    const create = (...lines: string[]) => {
      const fixed = ['Tus-Resumable: 1.0.0', 'Upload-Length: 5', 'Connection: close'];
      return requestRaw(t, server.port, requestLines(`POST /api/rooms/${room}/uploads HTTP/1.1`, ...lines, ...fixed));
    };
    for (const host of ['evil.example/path', 'a b', 'user@evil.example', 'evil.example#', '', 'localhost:999999']) {
      assertError(await create(`Host: ${host}`), 400, 'VALIDATION_FAILED');
    }
    await assertNothingLeft(server, room);
    const created = await create('Host: rooms.example', 'X-Forwarded-Host: evil.example');
    assert.equal(new URL(created.headers.get('location') ?? '').origin, 'http://rooms.example');

    await server.restart({ POPROOM_PUBLIC_URL: 'https://rooms.example' });
    const location = (await create('Host: evil.example')).headers.get('location') ?? '';
    assert.equal(new URL(location).origin, 'https://rooms.example');
  });

  it('[TUS-2] [UP-6] leaves nothing if its first bytes fail, because no client knows its URL', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    const path = `/api/rooms/${room}/uploads`;
    const headers = { ...tus, ...partType, 'upload-length': '5' };
    const mismatch = await server.api.post(path, {
      headers: { ...headers, 'upload-checksum': sha1('x') },
      body: 'Hello',
    });
    assertError(mismatch, 460, 'CHECKSUM_MISMATCH');
    await assertNothingLeft(server, room);

    const tooLong = await openRawSocket(t, server.port);
    await tooLong.send(requestHead('POST', path, { ...headers, 'Transfer-Encoding': 'chunked' }));
    await tooLong.send(Buffer.concat([chunk('Hello'), chunk('World'), Buffer.from(lastChunk)]));
    assert.equal((await tooLong.response()).code, 'FILE_TOO_LARGE');
    await assertNothingLeft(server, room);

    const broken = await openRawSocket(t, server.port);
    await broken.send(`${requestHead('POST', path, { ...headers, 'Content-Length': 5 })}He`);
    await eventually('it has begun', async () => (await storedBytes(server.api)) === 5);
    broken.destroy();
    await assertNothingLeft(server, room);
  });
});

describe('a continuation', () => {
  it('[TUS-3] with malformed headers is rejected, and stores nothing', async (t) => {
    const { api, path } = await start(t, 5);
    for (const offset of ['', '-1', '1.5', 'x', '0, 0', '+0']) {
      assertError(await sendPart(api, path, offset, 'Hello'), 400, 'VALIDATION_FAILED');
    }
    assertError(await sendPart(api, path, '9'.repeat(30), 'Hello'), 409, 'UPLOAD_CONFLICT');
    for (const type of ['', 'text/plain', 'application/octet-stream']) {
      const response = await sendPart(api, path, 0, Buffer.from('Hello'), { 'content-type': type });
      assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    assertError(await sendPart(api, path, 0, 'Hello', { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const checksum = sha1('Hello');
    for (const value of [
      '',
      'crc32 AAAA',
      'SHA1 AAAA',
      `${checksum}!`,
      `${checksum}, ${checksum}`,
      'constructor AA==',
    ]) {
      assertError(await sendPart(api, path, 0, 'Hello', { 'upload-checksum': value }), 400, 'VALIDATION_FAILED');
    }
    assertError(await sendPart(api, path, 0, 'Hello', { 'upload-checksum': sha1('World') }), 460, 'CHECKSUM_MISMATCH');
    assert.equal(await offsetOf(api, path), 0);
    assert.equal((await sendPart(api, path, 0, 'Hello', { 'upload-checksum': checksum })).status, 204);
  });

  it('[TUS-12] accepts bytes without a type, or with parameters of it, as generated clients send them', async (t) => {
    const { api, path } = await start(t, 10);
    const headers = { 'tus-resumable': '1.0.0', 'upload-offset': '0' };
    const untyped = await api.patch(path, { headers, body: Buffer.from('Hello') });
    assert.deepEqual([untyped.status, await offsetOf(api, path)], [204, 5]);
    const type = { 'content-type': 'Application/Offset+octet-stream; charset=utf-8' };
    assert.equal((await sendPart(api, path, 5, 'World', type)).status, 204);
  });

  it('[TUS-3] stores nothing of a body of unknown length that exceeds the announced size', async (t) => {
    const { server, api, path, port } = await start(t, 8);
    const socket = await openRawSocket(t, port);
    const headers = { ...tus, ...partType, 'Upload-Offset': 0, 'Transfer-Encoding': 'chunked' };
    await socket.send(requestHead('PATCH', path, headers) + chunk('Hello').toString());
    await eventually('it has begun', async () => (await storedBlobs(server)).length > 0);
    await socket.send(chunk('World').toString() + lastChunk);
    assert.equal((await socket.response()).code, 'FILE_TOO_LARGE');
    assert.equal(await offsetOf(api, path), 0);
  });

  it('[TUS-4] may have an empty body, and an unknown length', async (t) => {
    const { api, path, port } = await start(t, 5);
    assert.equal((await sendPart(api, path, 0, '')).headers.get('upload-offset'), '0');
    const socket = await openRawSocket(t, port);
    const headers = { ...tus, ...partType, 'Upload-Offset': 0, 'Transfer-Encoding': 'chunked' };
    await socket.send(requestHead('PATCH', path, headers) + chunk('Hello').toString() + lastChunk);
    const { status, headers: answered } = await socket.response();
    assert.deepEqual([status, answered['upload-offset']], [204, '5']);
  });

  it('[UP-4] [TUS-4] is rejected while the disk has too little space, and accepted later', async (t) => {
    const { server, api, path } = await start(t, 10);
    assert.equal((await sendPart(api, path, 0, 'Hello')).status, 204);
    await server.restart({ POPROOM_MIN_FREE_DISK: '900000GiB' });
    assertError(await sendPart(api, path, 5, 'World'), 507, 'STORAGE_FULL');
    assert.equal(await offsetOf(api, path), 5);
    await server.restart({ POPROOM_MIN_FREE_DISK: '0' });
    const { status, headers } = await sendPart(api, path, 5, 'World');
    assert.deepEqual([status, headers.get('upload-offset')], [204, '10']);
  });

  it('[TUS-6] [TUS-8] of an unknown or cancelled upload returns 404, of a complete one 409 with its size', async (t) => {
    const { api, path, room } = await start(t, 5);
    const unknown = ['0'.repeat(32), 'x', '..%2f', 'a'.repeat(300)].map((id) => `/api/rooms/${room}/uploads/${id}`);
    for (const to of unknown) {
      for (const method of ['HEAD', 'PATCH', 'DELETE']) {
        const response = await api.call(method, to, { headers: { ...tus, ...partType, 'upload-offset': '0' } });
        assert.deepEqual([method, to, response.status], [method, to, 404]);
        assert.equal(response.headers.get('upload-offset'), null);
      }
    }
    const elsewhere = path.replace(room, await api.room());
    assertError(await sendPart(api, elsewhere, 0, 'Hello'), 404, 'UPLOAD_NOT_FOUND');

    await sendPart(api, path, 0, 'Hello');
    for (const [offset, body] of [
      [0, 'Hello'],
      [3, 'lo'],
      [5, ''],
      [5, 'x'],
    ] as const) {
      const response = await sendPart(api, path, offset, body);
      assertError(response, 409, 'UPLOAD_CONFLICT');
      assert.deepEqual(response.json.error.details, { offset: 5 });
    }
    assertError(await api.delete(path, { headers: tus }), 404, 'UPLOAD_NOT_FOUND');
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
  });

  it('[TUS-8] is followed by HEAD at any moment of its end', async (t) => {
    const { api, room } = await start(t, 1);
    for (let n = 0; n < 5; n++) {
      const path = await startUpload(api, room, 5);
      const ended = sendPart(api, path, 0, 'Hello');
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver) {
        const found = await Promise.all(Array.from({ length: 4 }, () => api.call('HEAD', path, { headers: tus })));
        assert.deepEqual([...new Set(found.map(({ status }) => status))], [200]);
      }
      assert.equal((await ended).status, 204);
    }
  });

  it('[TUS-1] works with each overridden method, and only on uploads', async (t) => {
    const { api, path, room } = await start(t, 5);
    const override = (method: string, to = path) =>
      api.post(to, { headers: { ...tus, 'x-http-method-override': method } });
    assert.equal((await override('HEAD')).headers.get('upload-offset'), '0');
    assert.equal((await override('delete')).status, 204);
    for (const [method, to] of [
      ['PUT', path],
      ['POST', path],
      ['DELETE', `/api/rooms/${room}`],
    ] as const) {
      assertError(await override(method, to), 405, 'METHOD_NOT_ALLOWED');
    }
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
  });
});

async function start(t: TestContext, size: number) {
  const server = await startTestServer(t, noLimit);
  const room = await server.api.room();
  const created: ApiResponse = await createUpload(server.api, room, size);
  return { server, api: server.api, port: server.port, room, path: pathIn(created) };
}

async function storedBytes(api: TestServer['api']): Promise<number> {
  return (await api.get('/api/limits')).json.storedBytes;
}

/** Waits, because the server notices a disconnected sender with a delay. */
async function assertNothingLeft(server: TestServer, room: string): Promise<void> {
  await assertNothingStored(server, room);
  await eventually('nothing counts', async () => (await storedBytes(server.api)) === 0);
}
