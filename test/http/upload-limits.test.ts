/** Limits of uploads: a byte too many, a file too many, a full disk. They are rejected early, and nothing remains. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { closingBoundary, filePart, form, formType, partHead } from '../support/form.ts';
import { chunk, openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { assertNothingStored, storedBlobs } from '../support/stored-blobs.ts';
import { streamed } from '../support/streamed-body.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const largest = 10_485_760;
const bareHeaders = { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt' };
const formHeaders = { 'Content-Type': formType };

describe('the maximum file size', () => {
  for (const encoding of ['bare', 'form'] as const) {
    for (const length of ['announced', 'not announced'] as const) {
      const mark = encoding === 'bare' && length === 'not announced' ? '' : '[slow] ';
      it(`${mark}[UP-2] [UP-6] rejects one byte more, ${encoding}, its length ${length}`, async (t) => {
        const server = await startTestServer(t, noLimit);
        const room = await server.api.room();
        const bytes = randomBytes(largest + 1);
        const body = encoding === 'bare' ? bytes : form(filePart(bytes));
        const headers = { 'content-type': encoding === 'bare' ? 'application/octet-stream' : formType };
        const sent = length === 'announced' ? body : streamed(body);
        const { status, code, json } = await server.api.upload(room, 'big.bin', sent, { headers });
        assert.deepEqual([status, code], [413, 'FILE_TOO_LARGE']);
        const { message, details } = json.error;
        assert.deepEqual(
          [message, details],
          ['The file exceeds the limit of 10 MiB (10,485,760 bytes).', { maximum: largest }],
        );
        await assertNothingStored(server, room);
      });
    }
  }

  it('[UP-2] rejects a larger announced length without reading a byte', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const lengths = [
      { ...bareHeaders, 'Content-Length': largest + 1 },
      { ...bareHeaders, 'Content-Length': 10 ** 15 },
      { ...formHeaders, 'Content-Length': largest + 1024 * 1024 },
    ];
    for (const headers of lengths) {
      const socket = await openRawSocket(t, server.port);
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers));
      const { status, code, headers: answered } = await socket.response();
      assert.deepEqual([status, code, answered.connection], [413, 'FILE_TOO_LARGE', 'close']);
      socket.destroy();
    }
    await assertNothingStored(server, room);
  });

  it('[UP-2] rejects a client that expects 100 Continue, instead of continuing', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const secret = await server.api.room({ pin: '0427' });
    const asking = { Expect: '100-continue' };
    const refused = [
      { to: room, headers: { ...bareHeaders, 'Content-Length': largest + 1 }, code: 'FILE_TOO_LARGE' },
      { to: room, headers: { ...formHeaders, 'Content-Length': 2 * largest }, code: 'FILE_TOO_LARGE' },
      { to: room, headers: { 'Content-Type': 'text/plain', 'Content-Length': 5 }, code: 'VALIDATION_FAILED' },
      { to: secret, headers: { ...bareHeaders, 'Content-Length': 5 }, code: 'PIN_REQUIRED' },
      { to: '000000', headers: { ...bareHeaders, 'Content-Length': 5 }, code: 'ROOM_NOT_FOUND' },
    ];
    for (const { to, headers, code } of refused) {
      const socket = await openRawSocket(t, server.port);
      await socket.send(requestHead('POST', `/api/rooms/${to}/upload`, { ...headers, ...asking }));
      assert.equal((await socket.response()).code, code);
      await socket.closed();
    }
  });

  it('[UP-2] rejects a body before its end when it exceeds the limit', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const tooMuch = Buffer.alloc(largest + 1);
    const fileOpening = partHead({ disposition: 'name="file"; filename="a.txt"' });
    const begun = [
      { headers: { ...bareHeaders, 'Transfer-Encoding': 'chunked' }, body: chunk(tooMuch) },
      {
        headers: { ...formHeaders, 'Transfer-Encoding': 'chunked' },
        body: chunk(Buffer.concat([fileOpening, tooMuch])),
      },
      {
        headers: { ...formHeaders, 'Content-Length': fileOpening.length + tooMuch.length + 2 + closingBoundary.length },
        // The first bytes of a boundary are held back until it is clear that they are none.
        body: Buffer.concat([fileOpening, tooMuch, Buffer.from('\r\n')]),
      },
    ];
    for (const { headers, body } of begun) {
      const socket = await openRawSocket(t, server.port);
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers));
      await socket.send(body);
      assert.equal((await socket.response()).code, 'FILE_TOO_LARGE');
      await assertNothingStored(server, room);
      socket.destroy();
    }
  });

  it('[UP-2] rejects an endless form, wherever it is endless', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    const rubbish = Buffer.alloc(1024 * 1024, 'x');
    const endless = {
      preamble: Buffer.from(''),
      'part header': Buffer.from('--xyzzy\r\nX-Long: '),
      field: partHead({ disposition: 'name="pin"' }),
      'part that is skipped': Buffer.from('--xyzzy\r\nX-Other: 1\r\n\r\n'),
    };
    for (const [where, begun] of Object.entries(endless)) {
      const socket = await openRawSocket(t, server.port);
      const headers = { ...formHeaders, 'Transfer-Encoding': 'chunked' };
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers));
      await socket.send(chunk(begun));
      for (let MiB = 0; MiB < 12 && socket.unread() === ''; MiB++) await socket.send(chunk(rubbish));
      const { status } = await socket.response();
      assert.ok(status === 400 || status === 413, `an endless ${where} is refused: ${status}`);
      await assertNothingStored(server, room);
      socket.destroy();
    }
  });
});

describe('a full room', () => {
  it('[slow] [UP-3] has 100 files, whatever is concurrent, and has space again when one is removed', async (t) => {
    const server = await startTestServer(t, noLimit);
    const { api } = server;
    const room = await api.room();
    for (let i = 0; i < 95; i++) assert.equal((await api.upload(room, `${i}.txt`, 'x')).status, 201);
    const last = await Promise.all(Array.from({ length: 12 }, () => api.upload(room, 'late.txt', 'x')));
    assert.equal(last.filter(({ status }) => status === 201).length, 5);
    assert.ok(last.filter(({ status }) => status !== 201).every(({ code }) => code === 'ROOM_FULL'));
    assert.equal((await storedBlobs(server)).length, 100);
    const body = form(filePart('x'));
    const asForm = await api.post(`/api/rooms/${room}/upload`, { body, headers: { 'content-type': formType } });
    assert.deepEqual([asForm.status, asForm.code], [413, 'ROOM_FULL']);
    assert.deepEqual(asForm.json.error.details, { maximumFiles: 100, maximumBytes: 104_857_600 });

    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.equal(files.length, 100);
    await api.delete(`/api/rooms/${room}/files/${files[0].fileId}`);
    assert.equal((await api.upload(room, 'again.txt', 'x')).status, 201);
  });

  it('[slow] [UP-3] has 100 MiB, and rejects more', async (t) => {
    const server = await startTestServer(t, noLimit);
    const { api, port } = server;
    const room = await api.room();
    const big = Buffer.alloc(largest, 'x');
    for (let i = 0; i < 9; i++) assert.equal((await api.upload(room, `${i}.bin`, big)).status, 201);
    assert.equal((await api.upload(room, 'most.bin', big.subarray(1))).status, 201);

    const socket = await openRawSocket(t, port);
    await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, { ...bareHeaders, 'Content-Length': 2 }));
    assert.equal(
      (await socket.response()).code,
      'ROOM_FULL',
      'a declared length over the limit is rejected immediately',
    );
    socket.destroy();
    assert.equal((await api.upload(room, 'two.bin', streamed('xx'))).code, 'ROOM_FULL');
    const asForm = { body: form(filePart('xx')), headers: { 'content-type': formType } };
    assert.equal((await api.post(`/api/rooms/${room}/upload`, asForm)).code, 'ROOM_FULL');
    assert.equal((await storedBlobs(server)).length, 10);
    assert.equal((await api.upload(room, 'one.bin', 'x')).status, 201, 'the last byte fits');
  });
});

describe('a full disk', () => {
  it('[UP-4] rejects files that would leave too little space', async (t) => {
    const server = await startTestServer(t, { POPROOM_MIN_FREE_DISK: '900000GiB' });
    const room = await server.api.room();
    const bare = await server.api.upload(room, 'a.txt', 'x');
    assert.deepEqual([bare.status, bare.code], [507, 'STORAGE_FULL']);
    const body = form(filePart('x'));
    const headers = { 'content-type': formType };
    assert.equal((await server.api.post(`/api/rooms/${room}/upload`, { body, headers })).code, 'STORAGE_FULL');
    await assertNothingStored(server, room);
    assert.ok(!server.logged().includes(server.folder), 'no path is in the log');
  });
});
