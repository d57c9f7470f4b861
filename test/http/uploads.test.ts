/** Successful uploads: as a form and as raw bytes, up to the maximum size, with and without a PIN. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { chunk, lastChunk, openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { readBlob, storedBlobs, unfinishedBlobs } from '../support/stored-blobs.ts';
import { streamed } from '../support/streamed-body.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const largest = 10_485_760;

describe('uploads', () => {
  it('[API-6] [UP-1] accepts a file as a form', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const body = new FormData();
    body.set('file', new Blob(['hello'], { type: 'text/markdown' }), 'notes.md');
    const { status, json, headers } = await api.post(`/api/rooms/${room}/upload`, { body });
    assert.equal(status, 201);
    const { fileId, fileUrl } = json;
    assert.deepEqual(json, { success: true, fileId, fileUrl, fileName: 'notes.md', fileSize: 5 });
    assert.equal(headers.get('location'), fileUrl);
    assert.equal((await api.get(json.fileUrl)).text, 'hello');
    const [listed] = (await api.get(`/api/rooms/${room}/files`)).json.files;
    assert.equal(listed.contentType, 'text/markdown');
    assert.deepEqual([listed.fileId, listed.fileUrl], [fileId, fileUrl]);
  });

  it('[API-6] [UP-1] accepts raw bytes, named by a header or by the query', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const byHeader = await api.upload(room, 'naïve plan.txt', 'hello', { headers: { 'content-type': 'text/plain' } });
    assert.equal(byHeader.status, 201);
    assert.deepEqual([byHeader.json.fileName, byHeader.json.fileSize], ['naïve plan.txt', 5]);
    const byQuery = await api.post(`/api/rooms/${room}/upload?fileName=na%C3%AFve+plan.txt`, {
      body: 'hello',
      headers: { 'content-type': 'image/png; charset=x' },
    });
    assert.equal(byQuery.json.fileName, 'naïve plan.txt');
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.deepEqual(
      files.map(({ contentType }: { contentType: string }) => contentType),
      ['text/plain', 'image/png'],
    );
  });

  it('[UP-1] uses the name in the header if both are given', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const { json } = await api.post(`/api/rooms/${room}/upload?fileName=query.txt`, {
      body: 'x',
      headers: { 'content-type': 'text/plain', 'x-file-name': 'header.txt' },
    });
    assert.equal(json.fileName, 'header.txt');
  });

  it('[UP-2] accepts empty files', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const bare = await api.upload(room, 'empty.txt', '');
    const asForm = await api.post(`/api/rooms/${room}/upload`, {
      body: form(filePart('')),
      headers: { 'content-type': formType },
    });
    for (const { status, json } of [bare, asForm]) {
      assert.equal(status, 201);
      assert.equal(json.fileSize, 0);
      const read = await api.get(json.fileUrl);
      assert.deepEqual([read.status, read.text, read.headers.get('content-length')], [200, '', '0']);
    }
  });

  it('[UP-2] accepts a request without a body as an empty file', async (t) => {
    const { api, port } = await sharedServer(t);
    const to = `POST /api/rooms/${await api.room()}/upload?fileName=empty.txt HTTP/1.1`;
    const send = (type: string) =>
      requestRaw(t, port, requestLines(to, 'Host: localhost', `Content-Type: ${type}`, 'Connection: close'));
    const bare = await send('text/plain');
    assert.deepEqual([bare.status, bare.json.fileSize], [201, 0]);
    assertError(await send(formType), 400, 'VALIDATION_FAILED');
  });

  for (const encoding of ['bare', 'form'] as const) {
    for (const length of ['announced', 'not announced'] as const) {
      const mark = encoding === 'bare' && length === 'not announced' ? '' : '[slow] ';
      it(`${mark}[UP-2] [UP-7] accepts exactly the maximum size, ${encoding}, its length ${length}`, async (t) => {
        const server = await startTestServer(t, noLimit);
        const { api } = server;
        const room = await api.room();
        const bytes = randomBytes(largest);
        const body = encoding === 'bare' ? bytes : form(filePart(bytes));
        const headers = { 'content-type': encoding === 'bare' ? 'application/octet-stream' : formType };
        const sent = length === 'announced' ? body : streamed(body);
        const { status, json } = await api.upload(room, 'big.bin', sent, { headers });
        assert.equal(status, 201);
        assert.equal(json.fileSize, largest);
        const [blob = '', ...others] = await storedBlobs(server);
        assert.deepEqual(others, []);
        assert.ok(bytes.equals(await readBlob(server, blob)), 'every byte is stored when it is answered');
        const read = Buffer.from(await (await fetch(json.fileUrl)).arrayBuffer());
        assert.ok(bytes.equals(read), 'the download equals the upload');
      });
    }
  }

  it('[UP-2] sends 100 Continue to a client that expects it, and then accepts the file', async (t) => {
    const { api, port } = await sharedServer(t);
    const room = await api.room();
    const bodies = [
      { body: Buffer.from('hello'), headers: { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt' } },
      { body: form(filePart('hello')), headers: { 'Content-Type': formType } },
    ];
    for (const { body, headers } of bodies) {
      const socket = await openRawSocket(t, port);
      const asking = { ...headers, 'Content-Length': body.length, Expect: '100-continue' };
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, asking));
      assert.equal((await socket.response()).status, 100);
      await socket.send(body);
      assert.equal((await socket.response()).status, 201);
    }
  });

  it('[UP-1] accepts a form that arrives in single bytes, with text before and after it', async (t) => {
    const { api, port } = await sharedServer(t);
    const room = await api.room();
    const socket = await openRawSocket(t, port);
    const headers = { Host: `127.0.0.1:${port}`, 'Content-Type': formType, 'Transfer-Encoding': 'chunked' };
    await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers));
    const body = Buffer.concat([Buffer.from('preamble\r\n'), form(filePart('hello')), Buffer.from('epilogue')]);
    for (const byte of body) await socket.send(chunk(Buffer.from([byte])));
    await socket.send(lastChunk);
    const { status, text } = await socket.response();
    assert.equal(status, 201);
    assert.equal((await api.get(JSON.parse(text).fileUrl)).text, 'hello');
  });

  it('[UP-6] leaves nothing unfinished when uploads succeed', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const room = await api.room();
    await Promise.all(Array.from({ length: 10 }, (_, i) => api.upload(room, `${i}.txt`, `text ${i}`)));
    assert.deepEqual(await unfinishedBlobs(server), []);
    assert.equal((await storedBlobs(server)).length, 10);
  });

  describe('into a protected room', () => {
    const upload = '/upload';
    const right = field('pin', '0427');
    const wrong = field('pin', '9999');

    it('[PIN-3] accepts the PIN as a field before the file', async (t) => {
      const { api } = await sharedServer(t);
      const room = await api.room({ pin: '0427' });
      const send = (body: Buffer, sending = {}) =>
        api.post(`/api/rooms/${room}${upload}`, { body, headers: { 'content-type': formType }, ...sending });
      assert.equal((await send(form(right, filePart('x')))).status, 201);
      assert.equal((await send(form(wrong, filePart('x')))).code, 'PIN_INCORRECT');
      assert.equal((await send(form(filePart('x')))).code, 'PIN_REQUIRED');
      assert.equal((await send(form(filePart('x'), right))).code, 'PIN_REQUIRED');
      assert.equal((await send(form(field('pin', '42'), filePart('x')))).code, 'VALIDATION_FAILED');
    });

    it('[PIN-3] uses the header, then the query, then the field', async (t) => {
      const { api } = await sharedServer(t);
      const room = await api.room({ pin: '0427' });
      const send = (query: string, pin: string | undefined, body: Buffer) =>
        api.post(`/api/rooms/${room}${upload}${query}`, {
          body,
          headers: { 'content-type': formType },
          ...(pin !== undefined && { pin }),
        });
      assert.equal((await send('?pin=9999', '0427', form(wrong, filePart('x')))).status, 201);
      assert.equal((await send('?pin=0427', '9999', form(right, filePart('x')))).code, 'PIN_INCORRECT');
      assert.equal((await send('?pin=0427', undefined, form(wrong, filePart('x')))).status, 201);
      assert.equal((await send('?pin=9999', undefined, form(right, filePart('x')))).code, 'PIN_INCORRECT');
    });

    it('[PIN-3] accepts the PIN for raw bytes in the header and in the query', async (t) => {
      const { api } = await sharedServer(t);
      const room = await api.room({ pin: '0427' });
      assert.equal((await api.upload(room, 'a', 'x', { pin: '0427' })).status, 201);
      assert.equal((await api.upload(room, 'a', 'x', { pin: '9999' })).code, 'PIN_INCORRECT');
      assert.equal((await api.upload(room, 'a', 'x')).code, 'PIN_REQUIRED');
      const byQuery = await api.post(`/api/rooms/${room}/upload?fileName=a&pin=0427`, {
        body: 'x',
        headers: { 'content-type': 'text/plain' },
      });
      assert.equal(byQuery.status, 201);
    });
  });
});
