/** Uploads in several requests by the tus protocol: progress, interruptions, limits and malformed requests. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const tus = { 'tus-resumable': '1.0.0' };
const MiB = 1024 * 1024;

interface Started {
  server: TestServer;
  room: string;
  /** The path of the upload. */
  path: string;
}

async function start(
  t: TestContext,
  size: number,
  headers: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<Started> {
  const server = await startTestServer(t, env);
  const room = await server.api.room();
  return { server, room, path: await create(server, room, size, headers) };
}

async function create({ api }: TestServer, room: string, size: number, headers = {}): Promise<string> {
  const created = await api.post(`/api/rooms/${room}/uploads`, {
    headers: { ...tus, 'upload-length': String(size), ...headers },
  });
  assert.equal(created.status, 201, created.text);
  return new URL(created.headers.get('location') ?? '').pathname;
}

const patch = ({ server: { api }, path }: Started, offset: number, body: Buffer | string, headers = {}) =>
  api.call('PATCH', path, {
    headers: { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset), ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });

/** A request from offset 0 whose body the test sends itself. */
function openPatch({ server, path }: Started, length: number): ClientRequest {
  const { hostname, port } = new URL(server.url);
  const type = 'application/offset+octet-stream';
  const headers = { ...tus, 'content-type': type, 'content-length': length, 'upload-offset': 0 };
  return request({ hostname, port, path, method: 'PATCH', headers });
}

async function offsetOf({ server: { api }, path }: Started): Promise<number> {
  const { status, headers } = await api.call('HEAD', path, { headers: tus });
  assert.equal(status, 200);
  return Number(headers.get('upload-offset'));
}

async function filesOf({ server: { api }, room }: Pick<Started, 'server' | 'room'>) {
  return (await api.get(`/api/rooms/${room}/files`)).json.files as {
    fileId: string;
    fileUrl: string;
    fileSize: number;
  }[];
}

const metadata = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

describe('a resumable upload', () => {
  it('[TUS-1] announces the protocol, its extensions and the largest file', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FILE_MAX: '5MiB' });
    const { status, headers } = await api.call('OPTIONS', '/api/rooms/7KQ2MX/uploads');
    assert.equal(status, 204);
    assert.equal(headers.get('tus-version'), '1.0.0');
    assert.equal(headers.get('tus-extension'), 'creation,creation-with-upload,termination,expiration,checksum');
    assert.equal(headers.get('tus-max-size'), String(5 * MiB));
    assert.equal(headers.get('tus-checksum-algorithm'), 'sha1,sha256,md5');
  });

  it('[TUS-2] [TUS-8] puts a file into the room when its last byte has arrived', async (t) => {
    const upload = await start(t, 10, { 'upload-metadata': metadata({ filename: 'a.txt', filetype: 'text/plain' }) });
    const first = await patch(upload, 0, 'Hello');
    assert.deepEqual([first.status, first.headers.get('upload-offset')], [204, '5']);
    assert.deepEqual(await filesOf(upload), [], 'nothing is listed before the end');
    const last = await patch(upload, 5, 'World');
    assert.deepEqual([last.status, last.headers.get('upload-offset')], [204, '10']);
    const [file] = (await upload.server.api.get(`/api/rooms/${upload.room}/files`)).json.files;
    assert.partialDeepStrictEqual(file, { fileName: 'a.txt', fileSize: 10, contentType: 'text/plain' });
    assert.ok(upload.path.endsWith(file.fileId), 'the file has the id of the upload');
    assert.equal((await upload.server.api.get(file.fileUrl)).text, 'HelloWorld');
    assert.equal(await offsetOf(upload), 10, 'a client that missed the response learns that it is complete');
  });

  it('[TUS-2] takes its first bytes with the request that starts it', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const created = await server.api.post(`/api/rooms/${room}/uploads`, {
      headers: { ...tus, 'upload-length': '5', 'content-type': 'application/offset+octet-stream' },
      body: 'Hello',
    });
    assert.deepEqual([created.status, created.headers.get('upload-offset')], [201, '5']);
    assert.equal((await filesOf({ server, room })).length, 1);
  });

  it('[TUS-2] can be of an empty file', async (t) => {
    const upload = await start(t, 0);
    assert.equal((await filesOf(upload))[0]?.fileSize, 0);
  });

  it('[TUS-2] understands the metadata of Uppy, and cleans names', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const values = { name: '../a\u202Eb.png', type: 'image/png', relativePath: 'photos/../2026//a.png' };
    await create(server, room, 0, { 'upload-metadata': metadata(values) });
    const [file] = (await server.api.get(`/api/rooms/${room}/files`)).json.files;
    assert.partialDeepStrictEqual(file, { fileName: 'ab.png', contentType: 'image/png', folder: 'photos/2026' });
  });

  it('[TUS-3] is rejected at creation if the file is too large for a file, the room or the quota', async (t) => {
    const server = await startTestServer(t, { POPROOM_ROOM_MAX_BYTES: '12MiB', POPROOM_CLIENT_MAX_BYTES: '11MiB' });
    const room = await server.api.room();
    const tryToCreate = (bytes: number) =>
      server.api.post(`/api/rooms/${room}/uploads`, { headers: { ...tus, 'upload-length': String(bytes) } });
    assertError(await tryToCreate(10 * MiB + 1), 413, 'FILE_TOO_LARGE');
    await create(server, room, 10 * MiB);
    assertError(await tryToCreate(3 * MiB), 413, 'ROOM_FULL');
    assertError(await tryToCreate(2 * MiB), 413, 'QUOTA_EXCEEDED');
    assert.equal((await server.api.get('/api/limits')).json.storedBytes, 10 * MiB, 'the first one counts in full');
  });

  it('[TUS-3] continues only at its offset', async (t) => {
    const upload = await start(t, 10);
    await patch(upload, 0, 'Hello');
    for (const offset of [0, 4, 6, 10]) {
      const { status, json } = await patch(upload, offset, 'x');
      assert.deepEqual([status, json.error.details], [409, { offset: 5 }]);
    }
    assert.equal(await offsetOf(upload), 5);
  });

  it('[TUS-3] accepts no more bytes than were announced', async (t) => {
    const upload = await start(t, 4);
    assertError(await patch(upload, 0, 'Hello'), 413, 'FILE_TOO_LARGE');
    assert.equal(await offsetOf(upload), 0);
    await patch(upload, 0, 'Hell');
    assert.equal((await filesOf(upload)).length, 1);
  });

  it('[TUS-4] keeps the bytes that arrived before the connection broke', async (t) => {
    const bytes = randomBytes(3 * MiB);
    const upload = await start(t, bytes.length);
    const sending = openPatch(upload, bytes.length);
    sending.on('error', () => undefined);
    sending.write(bytes.subarray(0, MiB));
    await eventually('some bytes are there', () => sending.writableLength === 0);
    sending.destroy();
    const offset = await eventually('they count', async () => (await offsetOf(upload)) || undefined);
    await patch(upload, offset, bytes.subarray(offset));
    const [file] = await filesOf(upload);
    const stored = Buffer.from(await (await fetch(file?.fileUrl ?? '')).arrayBuffer());
    assert.ok(stored.equals(bytes));
  });

  it('[TUS-4] survives a restart of the server', async (t) => {
    const upload = await start(t, 10);
    await patch(upload, 0, 'Hello');
    await upload.server.restart();
    assert.equal(await offsetOf(upload), 5);
    await patch(upload, 5, 'World');
    assert.equal((await filesOf(upload)).length, 1);
  });

  it('[TUS-5] stores bytes only if they match their checksum', async (t) => {
    const upload = await start(t, 10);
    const checksum = (algorithm: string, text: string) => ({
      'upload-checksum': `${algorithm} ${createHash(algorithm).update(text).digest('base64')}`,
    });
    assertError(await patch(upload, 0, 'Hello', checksum('sha1', 'World')), 460, 'CHECKSUM_MISMATCH');
    assert.equal(await offsetOf(upload), 0);
    await patch(upload, 0, 'Hello', checksum('sha256', 'Hello'));
    assert.equal(await offsetOf(upload), 5);
    assert.equal((await patch(upload, 5, 'World', checksum('md5', 'World'))).status, 204);
  });

  it('[TRANSFER-7] counts as a request each time its bytes do not match their checksum', async (t) => {
    const env = { POPROOM_FREE_LIMIT: '5' };
    const upload = await start(t, 10, {}, env);
    const wrong = { 'upload-checksum': `sha1 ${Buffer.alloc(20).toString('base64')}` };
    const right = { 'upload-checksum': `sha1 ${createHash('sha1').update('Hello').digest('base64')}` };
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await patch(upload, 0, 'Hello', wrong);
      assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [460, remaining]);
    }
    assertError(await patch(upload, 0, 'Hello', wrong), 429, 'RATE_LIMITED');
    assertError(await patch(upload, 0, 'Hello', right), 429, 'RATE_LIMITED');
    assert.equal(
      (await patch(upload, 0, 'Hello')).status,
      204,
      'bytes without a checksum are stored, so they are free',
    );
  });

  it('[TUS-9] can be finished with checksums after the limit of requests is reached', async (t) => {
    const upload = await start(t, 10, {}, { POPROOM_FREE_LIMIT: '2' });
    const checksum = { 'upload-checksum': `sha1 ${createHash('sha1').update('Hello').digest('base64')}` };
    const { status, headers } = await patch(upload, 0, 'Hello', checksum);
    assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [204, '0']);
  });

  it('[TRANSFER-6] is not interrupted by a request in another room', async (t) => {
    const upload = await start(t, 10);
    const { api } = upload.server;
    const sending = openPatch(upload, 10);
    const response = new Promise<number | undefined>((resolve, reject) => {
      sending.once('response', ({ statusCode }) => resolve(statusCode)).once('error', reject);
    });
    sending.write('Hello');
    await eventually('it is on its way', () => sending.writableLength === 0);
    const elsewhere = upload.path.replace(upload.room, await api.room());
    assertError(await patch({ ...upload, path: elsewhere }, 0, 'x'), 404, 'UPLOAD_NOT_FOUND');
    assertError(await api.delete(elsewhere, { headers: tus }), 404, 'UPLOAD_NOT_FOUND');
    sending.end('World');
    assert.equal(await response, 204);
  });

  it('[TUS-6] leaves nothing when it is cancelled', async (t) => {
    const upload = await start(t, 10);
    await patch(upload, 0, 'Hello');
    assert.equal((await upload.server.api.delete(upload.path, { headers: tus })).status, 204);
    assertError(await patch(upload, 5, 'World'), 404, 'UPLOAD_NOT_FOUND');
    assert.equal((await upload.server.api.get('/api/limits')).json.storedBytes, 0);
    assertError(await upload.server.api.delete(upload.path, { headers: tus }), 404, 'UPLOAD_NOT_FOUND');
  });

  it('[TUS-7] ends after 24 hours, or with its room', async (t) => {
    const server = await startTestServer(t, {}, { sweepEveryMs: 20 });
    const room = (await server.api.post('/api/rooms', { json: { expiresIn: 7 * 86_400 } })).json.roomId;
    const upload = { server, room, path: await create(server, room, 10) };
    const { headers } = await server.api.call('HEAD', upload.path, { headers: tus });
    assert.equal(Date.parse(headers.get('upload-expires') ?? ''), server.clock.now + 86_400_000);
    server.clock.advance(86_400_000);
    await eventually('its bytes no longer count', async () => {
      return (await server.api.get('/api/limits')).json.storedBytes === 0;
    });
    assertError(await patch(upload, 0, 'Hello'), 404, 'UPLOAD_NOT_FOUND');
  });

  /** Without a quota, the server does not count the bytes of a client. */
  const withQuota = { POPROOM_CLIENT_MAX_BYTES: '1GiB' };
  const malformed: [what: string, status: number, code: string, headers: Record<string, string>][] = [
    ['no version', 412, 'UNSUPPORTED_VERSION', { 'tus-resumable': '' }],
    ['another version', 412, 'UNSUPPORTED_VERSION', { 'tus-resumable': '0.2.2' }],
    ['no length', 400, 'VALIDATION_FAILED', { 'upload-length': '' }],
    ['a negative length', 400, 'VALIDATION_FAILED', { 'upload-length': '-1' }],
    ['a length that is not a number', 400, 'VALIDATION_FAILED', { 'upload-length': '1e3' }],
    ['a deferred length', 400, 'VALIDATION_FAILED', { 'upload-defer-length': '1' }],
    ['malformed metadata', 400, 'VALIDATION_FAILED', { 'upload-metadata': 'filename a b c' }],
    ['metadata that is not base64', 400, 'VALIDATION_FAILED', { 'upload-metadata': 'filename ä' }],
    [
      'a folder that is too deep',
      400,
      'VALIDATION_FAILED',
      { 'upload-metadata': metadata({ folder: 'a/'.repeat(33) }) },
    ],
  ];
  for (const [what, status, code, headers] of malformed) {
    it(`[TUS-3] is rejected with ${what}, and leaves nothing`, async (t) => {
      const { api } = await sharedServer(t, withQuota);
      const room = await api.room();
      const all = { ...tus, 'upload-length': '5', ...headers };
      const rejected = await api.post(`/api/rooms/${room}/uploads`, { headers: all });
      assertError(rejected, status, code as never);
      assert.equal(rejected.headers.get('tus-resumable'), '1.0.0');
      assert.equal((await api.get('/api/limits')).json.storedBytes, 0);
    });
  }

  const firstParts: [what: string, status: number, headers: Record<string, string>][] = [
    ['more bytes than announced', 413, { 'upload-length': '4' }],
    ['another content type', 415, { 'content-type': 'text/plain' }],
    ['a malformed checksum', 400, { 'upload-checksum': 'sha1 AAAA' }],
  ];
  for (const [what, status, headers] of firstParts) {
    it(`[TUS-3] leaves nothing if its first bytes come with ${what}`, async (t) => {
      const { api } = await sharedServer(t, withQuota);
      const type = { 'content-type': 'application/offset+octet-stream' };
      const all = { ...tus, ...type, 'upload-length': '5', ...headers };
      const rejected = await api.post(`/api/rooms/${await api.room()}/uploads`, { headers: all, body: 'Hello' });
      assert.equal(rejected.status, status);
      assert.equal((await api.get('/api/limits')).json.storedBytes, 0);
    });
  }

  it('[TUS-2] has the canonical room code in its URL', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const path = await create(server, `%20${room.toLowerCase().slice(0, 3)}-${room.slice(3)}`, 5);
    assert.ok(path.startsWith(`/api/rooms/${room}/uploads/`), path);
  });

  it('[TUS-3] rejects malformed continuations', async (t) => {
    const upload = await start(t, 5);
    assertError(await patch(upload, 0, 'Hello', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    assertError(await patch(upload, 0, 'Hello', { 'upload-offset': 'x' }), 400, 'VALIDATION_FAILED');
    for (const checksum of ['crc32 AAAA', 'sha1', 'sha1 AAAA', 'sha1 !!!']) {
      assertError(await patch(upload, 0, 'Hello', { 'upload-checksum': checksum }), 400, 'VALIDATION_FAILED');
    }
    assert.equal(await offsetOf(upload), 0);
  });

  it('[TUS-1] works for clients that can only send POST', async (t) => {
    const upload = await start(t, 5);
    const { api } = upload.server;
    const { status } = await api.post(upload.path, {
      headers: {
        ...tus,
        ...{ 'x-http-method-override': 'PATCH', 'upload-offset': '0' },
        'content-type': 'application/offset+octet-stream',
      },
      body: 'Hello',
    });
    assert.equal(status, 204);
    assert.equal((await filesOf(upload)).length, 1);
  });

  it('[TUS-9] needs the PIN of its room', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room({ pin: '0427' });
    const headers = { ...tus, 'upload-length': '5' };
    assertError(await server.api.post(`/api/rooms/${room}/uploads`, { headers }), 401, 'PIN_REQUIRED');
    const path = await create(server, room, 5, { 'x-room-pin': '0427' });
    assertError(await patch({ server, room, path }, 0, 'Hello'), 401, 'PIN_REQUIRED');
    assert.equal((await patch({ server, room, path }, 0, 'Hello', { 'x-room-pin': '0427' })).status, 204);
  });

  it('[TUS-9] counts as one request, however often it is continued', async (t) => {
    const upload = await start(t, 10, {}, { POPROOM_FREE_LIMIT: '2' });
    for (let offset = 0; offset < 10; offset++) assert.equal((await patch(upload, offset, 'x')).status, 204);
  });

  it('[TUS-10] is continued by the latest request, which ends an earlier one', async (t) => {
    const bytes = randomBytes(2 * MiB);
    const upload = await start(t, bytes.length);
    const stuck = openPatch(upload, bytes.length);
    const ended = new Promise((resolve) => void stuck.once('error', resolve).once('response', resolve));
    t.after(() => stuck.destroy());
    stuck.write(bytes.subarray(0, MiB));
    await eventually('it is on its way', () => stuck.writableLength === 0);
    const again = await patch(upload, 0, bytes);
    await ended;
    const offset = again.status === 409 ? again.json.error.details.offset : bytes.length;
    if (offset < bytes.length) assert.equal((await patch(upload, offset, bytes.subarray(offset))).status, 204);
    const [file] = await filesOf(upload);
    assert.ok(Buffer.from(await (await fetch(file?.fileUrl ?? '')).arrayBuffer()).equals(bytes));
  });
});
