/** Plain text and raw files, as `curl -d`, `curl -T` and `Accept: text/plain` use them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { requestRaw } from '../support/raw-http.ts';
import { requestHead } from '../support/raw-socket.ts';
import { createSealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const byCurl = 'application/x-www-form-urlencoded';

describe('a plain text', () => {
  it('[TEXT-12] is stored byte by byte, whichever of the types it has', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const texts = ['hello', 'a=b&c%20d+e', '{"content":"x"}', '\r\n\t ', '\ufeffx', 'a\u0000b', 'Grüezi 😀', ''];
    const types = ['text/plain', byCurl, 'Text/Plain; charset=UTF-8', 'text/plain;charset="utf8"'];
    let version = 0;
    for (const type of types) {
      for (const content of texts) {
        const written = await api.post(path, { body: Buffer.from(content), headers: { 'content-type': type } });
        version += 1;
        assert.equal(written.status, 200, type);
        assert.deepEqual([written.json.content, written.json.version], [content, version]);
        assert.equal(written.headers.get('etag'), `"${version}"`);
        assert.equal((await api.get(path)).json.content, content);
      }
    }
  });

  it('[TEXT-14] is appended by PATCH, byte by byte, whichever of the types it has', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room({ pin: '0427' })}/content`;
    const append = (body: string, type: string, headers: Record<string, string> = {}) =>
      api.patch(path, { body: Buffer.from(body), pin: '0427', headers: { 'content-type': type, ...headers } });
    const added = await append('one\n', 'text/plain');
    assert.deepEqual([added.status, added.json.version, added.headers.get('etag')], [200, 1, '"1"']);
    await append('{"append": "x"}', 'Text/Plain; charset=UTF-8');
    await append('a=b&c%20d+e', byCurl);
    assert.equal((await api.get(path, { pin: '0427' })).json.content, 'one\n{"append": "x"}a=b&c%20d+e');
    assertError(await append('late', 'text/plain', { 'if-match': '"1"' }), 412, 'VERSION_CONFLICT');
    assertError(await append('x', 'text/plain; charset=iso-8859-1'), 415, 'UNSUPPORTED_MEDIA_TYPE');
    assertError(await append('x'.repeat(MiB), 'text/plain'), 413, 'CONTENT_TOO_LARGE');
    const wrong = { body: Uint8Array.from([0xff]), headers: { 'content-type': 'text/plain' }, pin: '0427' };
    assertError(await api.patch(path, wrong), 400, 'VALIDATION_FAILED');
    assertError(await api.patch(path, { ...wrong, body: 'x', pin: '0000' }), 403, 'PIN_INCORRECT');
  });

  it('[TEXT-14] is appended once with the same Idempotency-Key', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const headers = { 'content-type': 'text/plain', 'idempotency-key': 'a-key-of-this-one-line' };
    for (let n = 0; n < 2; n++) assert.equal((await api.patch(path, { body: 'once\n', headers })).json.version, 1);
    assert.equal((await api.get(path)).json.content, 'once\n');
  });

  it('[TEXT-14] is refused in an encrypted room', async (t) => {
    const { api } = await sharedServer(t);
    const { code, access } = await createSealedRoom(api);
    const headers = { ...access.headers, 'content-type': 'text/plain' };
    const path = `/api/rooms/${code}/content`;
    assertError(await api.patch(path, { body: 'plain', headers }), 400, 'ENCRYPTION_REQUIRED');
    assert.equal((await api.get(path, access)).json.version, 0);
  });

  it('[TEXT-12] [TEXT-1] may have exactly 1 MiB', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const write = (body: string) => api.post(path, { body, headers: { 'content-type': 'text/plain' } });
    assert.equal((await write('é'.repeat(MiB / 2))).status, 200);
    assertError(await write(`${'é'.repeat(MiB / 2)}x`), 413, 'CONTENT_TOO_LARGE');
    assert.equal((await api.get(path)).json.version, 1);
  });

  it('[TEXT-12] is rejected if it is not UTF-8, and nothing is stored', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const write = (type: string, body: Uint8Array<ArrayBuffer>) =>
      api.post(path, { body, headers: { 'content-type': type } });
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      const response = await write('text/plain', Uint8Array.from(bytes));
      assert.equal(assertError(response, 400, 'VALIDATION_FAILED').field, 'content');
    }
    const latin1 = await write('text/plain; charset=iso-8859-1', Uint8Array.from([0x61]));
    assertError(latin1, 415, 'UNSUPPORTED_MEDIA_TYPE');
    assert.equal((await api.get(path)).json.version, 0);
  });

  it('[TEXT-12] needs the PIN and the right version like any other', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room({ pin: '0427' })}/content`;
    const write = (end: string, headers: Record<string, string>) =>
      api.post(path + end, { body: 'hello', headers: { 'content-type': byCurl, ...headers } });
    assertError(await write('', {}), 401, 'PIN_REQUIRED');
    assert.equal((await write('?pin=0427', {})).status, 200);
    assertError(await write('', { 'x-room-pin': '0427', 'if-match': '"7"' }), 412, 'VERSION_CONFLICT');
    assert.equal((await write('', { 'x-room-pin': '0427', 'if-match': '"1"' })).json.version, 2);
  });

  it('[TEXT-13] is returned bare if the client accepts nothing else', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const accepting = (accept: string, more = {}) => api.get(path, { headers: { accept, ...more } });
    for (const content of ['Grüezi\n<b>😀</b>', 'x'.repeat(100_000), '']) {
      await api.post(path, { json: { content } });
      for (const accept of ['text/plain', ' Text/Plain;charset=utf-8']) {
        const { status, headers, text } = await accepting(accept);
        assert.deepEqual([status, text === content], [200, true]);
        assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
        assert.deepEqual([headers.get('vary'), headers.get('cache-control')], ['Accept, Accept-Encoding', 'no-store']);
      }
    }
    assert.equal((await accepting('text/plain', { 'if-none-match': '"3"' })).status, 304);
    assertError(
      await api.get('/api/rooms/ZZZZZZZZ/content', { headers: { accept: 'text/plain' } }),
      404,
      'ROOM_NOT_FOUND',
    );
  });

  it('[TEXT-13] is JSON for browsers and for libraries that name both types', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const both = ['application/json, text/plain, */*', 'text/plain, application/json, */*', 'text/plain, */*; q=0.01'];
    const browsers = ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', '*/*', 'text/*', 'text/html'];
    for (const accept of [...both, ...browsers]) {
      assert.equal((await api.get(path, { headers: { accept } })).json.content, '', accept);
    }
  });
});

describe('a file by its name', () => {
  it('[UP-15] is uploaded with PUT, with and without a type', async (t) => {
    const server = await sharedServer(t);
    const { api, port } = server;
    const room = await api.room({ pin: '0427' });
    const path = `/api/rooms/${room}/upload/na%C3%AFve%20plan.txt`;
    const head = { Host: 'localhost', Connection: 'close', 'Content-Length': 5, 'X-Room-Pin': '0427' };
    const untyped = await requestRaw(t, port, `${requestHead('PUT', path, head)}hello`);
    assert.deepEqual([untyped.status, untyped.json.fileName, untyped.json.fileSize], [201, 'naïve plan.txt', 5]);
    assert.equal(untyped.headers.get('location'), untyped.json.fileUrl);
    const put = (body: string, pin?: string) =>
      api.call('PUT', path, { body, headers: { 'content-type': 'text/plain' }, ...(pin && { pin }) });
    assert.equal((await put('again', '0427')).status, 201);
    assertError(await put('x'), 401, 'PIN_REQUIRED');
    const { files } = (await api.get(`/api/rooms/${room}/files`, { pin: '0427' })).json;
    assert.deepEqual(
      files.map(({ fileName, contentType }: Record<string, string>) => [fileName, contentType]),
      [
        ['naïve plan.txt', 'application/octet-stream'],
        ['naïve plan.txt', 'text/plain'],
      ],
    );
    assert.equal((await api.get(files[0].fileUrl)).text, 'hello');
  });

  it('[UP-15] [UP-2] [UP-5] has the limits and the clean name of every file', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FILE_MAX: '1024' });
    const room = await api.room();
    const put = (name: string, body: string) => api.call('PUT', `/api/rooms/${room}/upload/${name}`, { body });
    assertError(await put('a.bin', 'x'.repeat(1025)), 413, 'FILE_TOO_LARGE');
    assert.equal((await put('..%2Fetc%2Fpasswd', 'x')).json.fileName, 'passwd');
    assert.equal((await put('a.bin?once=true', 'x')).json.once, true);
    assert.deepEqual(
      (await api.call('OPTIONS', `/api/rooms/${room}/upload/a.bin`)).headers.get('allow'),
      'PUT, OPTIONS',
    );
  });
});
