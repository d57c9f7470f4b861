/** Requests with an Idempotency-Key. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { chunk, lastChunk, openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const newKey = () => ({ 'idempotency-key': randomUUID() });
const isReplayed = ({ headers }: ApiResponse) => headers.get('idempotency-replayed') === 'true';

/** Sends a request twice, and checks that the second one returns the first response. */
async function sendTwice(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const [first, second] = [await send(), await send()];
  assert.deepEqual([isReplayed(first), isReplayed(second)], [false, true]);
  assert.deepEqual([second.status, second.json], [first.status, first.json]);
  for (const name of ['etag', 'location']) assert.equal(second.headers.get(name), first.headers.get(name), name);
  return first;
}

const form = (name: string, text: string, pin?: string) => {
  const body = new FormData();
  if (pin) body.set('pin', pin);
  body.set('file', new File([text], name, { type: 'text/plain' }));
  return body;
};

describe('a request with an idempotency key', () => {
  it('[IDEM-1] [IDEM-3] creates one room, and another request needs another key', async (t) => {
    const { api, ...server } = await startTestServer(t, noLimit);
    const headers = newKey();
    const create = (json: object) => api.post('/api/rooms', { json, headers });
    const created = await sendTwice(() => create({ pin: '0427', name: 'Trip' }));
    assert.equal(created.status, 201);
    assertError(await create({ pin: '0428', name: 'Trip' }), 422, 'IDEMPOTENCY_KEY_REUSED');
    assertError(await create({}), 422, 'IDEMPOTENCY_KEY_REUSED');
    assert.notEqual((await api.post('/api/rooms', { headers: newKey() })).json.roomId, created.json.roomId);
    server.clock.advance(24 * 3600_000 + 1);
    assert.equal(isReplayed(await create({ pin: '0427', name: 'Trip' })), false, 'a day later it is forgotten');
  });

  it('[IDEM-1] [IDEM-3] writes, edits and appends to a text once', async (t) => {
    const { api } = await startTestServer(t, noLimit);
    const path = `/api/rooms/${await api.room()}/content`;
    const large = 'text '.repeat(20_000);
    const requests: [string, RequestOptions, RequestOptions][] = [
      ['POST', { json: { content: large } }, { json: { content: `${large}!` } }],
      ['POST', { body: 'plain', headers: { 'content-type': 'text/plain' } }, { json: { content: 'other' } }],
      ['PATCH', { json: { append: 'more' } }, { json: { append: 'mores' } }],
      ['PATCH', { json: { edits: [{ from: 0, to: 1, insert: 'x' }] } }, { json: { append: 'x' } }],
      ['POST', { json: { content: '' }, headers: { 'if-match': '"4"' } }, { json: { content: '' } }],
    ];
    for (const [n, [method, request, other]] of requests.entries()) {
      const key = newKey();
      const send = (options: RequestOptions) =>
        api.call(method, path, { ...options, headers: { ...options.headers, ...key } });
      assert.equal((await sendTwice(() => send(request))).json.version, n + 1);
      assertError(await send(other), 422, 'IDEMPOTENCY_KEY_REUSED');
      assert.equal((await api.get(path)).json.version, n + 1);
    }
  });

  it('[IDEM-1] [IDEM-3] uploads a file once, compared by its bytes, as a form, a raw body and by PUT', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const room = await api.room();
    const path = `/api/rooms/${room}/upload`;
    const files = async () => (await api.get(`/api/rooms/${room}/files`)).json.files;
    const raw = { 'content-type': 'text/plain', 'x-file-name': 'a.txt' };
    const large = 'x'.repeat(300_000);
    const ways: ((key: object, text: string, name?: string) => Promise<ApiResponse>)[] = [
      (key, body, name = 'a.txt') => api.post(path, { body, headers: { ...raw, 'x-file-name': name, ...key } }),
      (key, text, name = 'a.txt') => api.post(path, { body: form(name, text), headers: { ...key } }),
      (key, body, name = 'a.txt') => api.call('PUT', `${path}/${name}`, { body, headers: { ...key } }),
    ];
    for (const [n, send] of ways.entries()) {
      for (const text of ['', large]) {
        const key = newKey();
        const uploaded = await sendTwice(() => send(key, text));
        assert.equal(uploaded.status, 201);
        assertError(await send(key, `${text}!`), 422, 'IDEMPOTENCY_KEY_REUSED');
        assertError(await send(key, text, 'b.txt'), 422, 'IDEMPOTENCY_KEY_REUSED');
        assert.equal(await (await fetch(uploaded.json.fileUrl)).text(), text);
      }
      assert.equal((await files()).length, 2 * (n + 1));
    }
  });

  it('[IDEM-1] is executed once if it is sent ten times at the same time, and each of them gets its response', async (t) => {
    const { api } = await startTestServer(t, noLimit);
    const room = await api.room();
    const path = `/api/rooms/${room}/content`;
    const tenTimes = async (send: (headers: Record<string, string>) => Promise<ApiResponse>) => {
      const key = newKey();
      const responses = await Promise.all(Array.from({ length: 10 }, () => send(key)));
      const [first] = responses as [ApiResponse];
      for (const { status, json } of responses) assert.deepEqual([status, json], [first.status, first.json]);
      assert.equal(responses.filter(isReplayed).length, 9);
      return first;
    };
    const appended = await tenTimes((headers) => api.patch(path, { json: { append: 'a' }, headers }));
    assert.equal(appended.json.version, 1);
    const edits = [{ from: 0, to: 0, insert: 'b' }];
    const edited = await tenTimes((headers) => api.patch(path, { json: { edits, baseVersion: 0 }, headers }));
    assert.equal(edited.json.version, 2);
    // All but the first name a version that the first one has replaced.
    const write = { json: { content: 'ab!' } };
    const written = await tenTimes((headers) =>
      api.post(path, { ...write, headers: { ...headers, 'if-match': '"2"' } }),
    );
    assert.equal(written.json.version, 3);
    const { content, version } = (await api.get(path)).json;
    assert.deepEqual([content, version], ['ab!', 3]);
    const created = await tenTimes((headers) => api.post('/api/rooms', { json: { pin: '0427' }, headers }));
    assert.equal((await api.get(`/api/rooms/${created.json.roomId}`, { pin: '0427' })).status, 200);
  });

  it('[IDEM-3] while its file is received, others with its key are asked to wait, and then get its response', async (t) => {
    const { api, port } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/upload`;
    const headers = { 'X-File-Name': 'a', 'Content-Type': 'text/plain', ...newKey() };
    const first = await openRawSocket(t, port);
    await first.send(requestHead('POST', path, { ...headers, 'Content-Length': 2, Expect: '100-continue' }));
    assert.equal((await first.response()).status, 100);
    const second = await api.post(path, { headers, body: 'ab' });
    assertError(second, 409, 'REQUEST_IN_PROGRESS');
    const seconds = Number(second.headers.get('retry-after'));
    assert.ok(seconds > 1 && seconds <= 10, `${seconds} s`);
    await first.send('ab');
    assert.equal((await first.response()).status, 201);
    assert.ok(isReplayed(await api.post(path, { headers, body: 'ab' })));
  });

  it('[IDEM-1] [UP-2] gets the reason if its file is rejected, also as a repetition, and runs again', async (t) => {
    const { api, port } = await startTestServer(t, { ...noLimit, POPROOM_FILE_MAX: '100000' });
    const path = `/api/rooms/${await api.room()}/upload`;
    const key = newKey();
    const socket = await openRawSocket(t, port);
    const sent = { 'X-File-Name': 'a', 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked', ...key };
    const send = async (size: number) => {
      await socket.send(requestHead('POST', path, sent) + chunk(Buffer.alloc(size, 'x')) + lastChunk);
      return socket.response();
    };
    assert.equal((await send(50_000)).status, 201);
    assert.equal((await send(50_001)).status, 422, 'on the same connection');
    assert.equal((await send(50_000)).status, 201);
    const tooLarge = { body: 'x'.repeat(100_001), headers: { 'content-type': 'text/plain', 'x-file-name': 'a' } };
    for (const headers of [key, newKey()]) {
      const response = await api.post(path, { ...tooLarge, headers: { ...tooLarge.headers, ...headers } });
      assertError(response, 413, 'FILE_TOO_LARGE');
    }
  });

  it('[IDEM-1] runs again after it failed', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    const headers = newKey();
    const write = (pin: string) => api.post(`/api/rooms/${room}/content`, { json: { content: 'x' }, headers, pin });
    assertError(await write('9999'), 403, 'PIN_INCORRECT');
    const written = await write('0427');
    assert.deepEqual([written.status, isReplayed(written)], [200, false]);
  });

  it('[IDEM-2] needs the PIN of the room and the same client, and ends with the room', async (t) => {
    const { api } = await startTestServer(t, noLimit);
    const room = await api.room({ pin: '0427' });
    const headers = newKey();
    const write = (options: RequestOptions) =>
      api.post(`/api/rooms/${room}/content`, { json: { content: 'x' }, headers, ...options });
    await write({ pin: '0427' });
    assertError(await write({}), 401, 'PIN_REQUIRED');
    assertError(await write({ pin: '9999' }), 403, 'PIN_INCORRECT');
    await api.patch(`/api/rooms/${room}`, { json: { pin: '5555' }, pin: '0427' });
    assertError(await write({ pin: '0427' }), 403, 'PIN_INCORRECT');
    assert.ok(isReplayed(await write({ json: { content: 'x', pin: '5555' } })), 'the PIN is not part of the content');
    const other = await write({ pin: '5555', from: '192.0.2.7' });
    assert.deepEqual([isReplayed(other), other.json.version], [false, 2]);
    await api.delete(`/api/rooms/${room}`, { pin: '5555' });
    assertError(await write({ pin: '5555' }), 404, 'ROOM_NOT_FOUND');
  });

  it('[IDEM-1] [ERR-2] rejects a malformed form, also if its key was used before, and accepts the correct one', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/upload`;
    const headers = newKey();
    const malformed = new FormData();
    malformed.set('unknown', 'field');
    malformed.set('file', new File(['abc'], 'a.txt', { type: 'text/plain' }));
    const send = (body: FormData) => api.post(path, { body, headers });
    assertError(await send(malformed), 400, 'VALIDATION_FAILED');
    assert.equal((await sendTwice(() => send(form('a.txt', 'abc')))).status, 201);
    assertError(await send(malformed), 400, 'VALIDATION_FAILED');
  });

  it('[IDEM-2] is independent of other rooms and endpoints, and rejects malformed keys', async (t) => {
    const { api } = await sharedServer(t);
    const headers = newKey();
    const json = { content: 'x' };
    for (let n = 0; n < 2; n++) {
      const created = await api.post('/api/rooms', { json: { name: `${n}` }, headers: n === 0 ? headers : newKey() });
      const path = `/api/rooms/${created.json.roomId}/content`;
      assert.equal((await api.post(path, { json, headers })).json.version, 1);
      assert.equal((await api.patch(path, { json: { append: 'y' }, headers })).json.version, 2);
      const quoted = { 'idempotency-key': `"${headers['idempotency-key']}"` };
      assert.ok(isReplayed(await api.post(path.toLowerCase(), { json, headers: quoted })));
    }
    for (const key of ['', 'short', 'k'.repeat(129), 'with a space, 16+', 'quote"in the middle', '"'.repeat(18)]) {
      const response = await api.post('/api/rooms', { headers: { 'idempotency-key': key } });
      assert.equal(assertError(response, 400, 'VALIDATION_FAILED', key).field, 'Idempotency-Key');
    }
  });

  it('[IDEM-1] is remembered over a restart, also after its file was removed', async (t) => {
    const server = await startTestServer(t, noLimit);
    const [room, headers] = [await server.api.room(), newKey()];
    const path = `/api/rooms/${room}/upload`;
    const send = () => server.api.post(path, { body: form('unusual-name.txt', 'abc'), headers: { ...headers } });
    const { fileId } = (await send()).json;
    await server.api.delete(`/api/rooms/${room}/files/${fileId}`);
    await server.restart();
    const again = await send();
    assert.deepEqual([isReplayed(again), again.json.fileId], [true, fileId]);
    assert.deepEqual((await server.api.get(`/api/rooms/${room}/files`)).json.files, []);
  });
});
