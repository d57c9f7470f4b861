/** One-time files: claimed by one receiver at a time, erased when received. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { storedBlobs } from '../support/stored-blobs.ts';

const noLimits = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const minute = 60_000;
const noClaim = '0'.repeat(32);

interface OneTimeFile {
  room: string;
  fileId: string;
  fileUrl: string;
}

async function uploadOnce({ api }: TestServer, text = 'a secret text', options: RequestOptions = {}) {
  const room = await api.room(options.pin === undefined ? {} : { pin: options.pin });
  const { status, json } = await api.post(`/api/rooms/${room}/upload?fileName=secret.txt&once=true`, {
    ...options,
    body: text,
    headers: { 'content-type': 'text/plain' },
  });
  assert.equal(status, 201);
  assert.equal(json.once, true);
  return { room, fileId: json.fileUrl.split('/').at(-2), fileUrl: json.fileUrl } as OneTimeFile;
}

const claim = ({ api }: TestServer, { room, fileId }: OneTimeFile, options?: RequestOptions) =>
  api.post(`/api/rooms/${room}/files/${fileId}/claim`, options);
const confirm = ({ api }: TestServer, room: string, token: string, options?: RequestOptions) =>
  api.post(`/api/rooms/${room}/claims/${token}/done`, options);
const release = ({ api }: TestServer, room: string, token: string) => api.delete(`/api/rooms/${room}/claims/${token}`);
const filesIn = async ({ api }: TestServer, room: string) => (await api.get(`/api/rooms/${room}/files`)).json.files;

async function claimed(server: TestServer, file: OneTimeFile): Promise<{ claim: string; url: string }> {
  const response = await claim(server, file);
  assert.equal(response.status, 200, response.text);
  return response.json;
}

/** Waits, because a response waits only briefly for the files to be erased. */
const assertErased = (server: TestServer) =>
  eventually('its bytes are gone', async () => (await storedBlobs(server)).length === 0);

describe('a one-time file', () => {
  it('[ONCE-1] is uploaded as raw bytes, as a form and by tus, and is marked', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const room = await api.room();
    const device = await joinRoom(t, server.url, room);
    await device.next('snapshot');
    const raw = { headers: { 'content-type': 'text/plain' }, body: 'x' };
    const asForm = (value: string) => ({
      headers: { 'content-type': formType },
      body: form(field('once', value), filePart('x')),
    });
    const path = `/api/rooms/${room}/upload`;
    for (const uploading of [
      api.post(`${path}?fileName=a&once=true`, raw),
      api.post(`${path}?fileName=a&once`, raw),
      api.post(path, asForm('true')),
      api.post(path, asForm('on')),
    ]) {
      const { status, json } = await uploading;
      assert.deepEqual([status, json.once], [201, true]);
    }
    const tus = { 'tus-resumable': '1.0.0', 'upload-length': '0' };
    for (const once of ['once', `once ${btoa('true')}`]) {
      const headers = { ...tus, 'upload-metadata': `filename ${btoa('a')},${once}` };
      const created = await api.post(`/api/rooms/${room}/uploads`, { headers });
      assert.equal(created.status, 201);
      assert.match(created.headers.get('upload-metadata') ?? '', new RegExp(`,once ${btoa('true')}$`));
    }
    const files = await filesIn(server, room);
    assert.deepEqual(
      files.map(({ once }: { once?: boolean }) => once),
      Array(6).fill(true),
    );
    for (let n = 0; n < 6; n++) assert.equal((await device.next('file-added')).file.once, true);
    const { json: ordinary } = await api.post(`${path}?fileName=a&once=false`, raw);
    assert.ok(!('once' in ordinary));
    assert.ok(!('once' in (await device.next('file-added')).file));
    const later = await joinRoom(t, server.url, room);
    assert.equal((await later.next('snapshot')).files.filter(({ once }) => once).length, 6);
  });

  it('[ONCE-1] needs a value that is true or false', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const room = await api.room();
    const path = `/api/rooms/${room}/upload`;
    const raw = { headers: { 'content-type': 'text/plain' }, body: 'x' };
    const body = form(field('once', 'maybe'), filePart('x'));
    const metadata = `filename ${btoa('a')},once ${btoa('maybe')}`;
    const tus = { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': metadata };
    for (const response of [
      await api.post(`${path}?fileName=a&once=yes`, raw),
      await api.post(`${path}?fileName=a&once=__proto__`, raw),
      await api.post(path, { body, headers: { 'content-type': formType } }),
      await api.post(`/api/rooms/${room}/uploads`, { headers: tus }),
    ]) {
      assert.equal(assertError(response, 400, 'VALIDATION_FAILED').field, 'once');
    }
    assert.deepEqual(await filesIn(server, room), []);
  });

  it('[ONCE-2] is not used up by its URL: GET, HEAD, ranges, conditions, link previews', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploadOnce(server);
    const { api } = server;
    const { pathname } = new URL(file.fileUrl);
    const etag = (await api.get((await claimed(server, file)).url)).headers.get('etag') ?? '';
    server.clock.advance(30 * minute);
    for (const headers of [
      {},
      { range: 'bytes=0-3' },
      { 'if-none-match': etag },
      { 'if-none-match': '*' },
      { range: 'bytes=0-3', 'if-range': etag },
      { 'user-agent': 'Slackbot-LinkExpanding 1.0' },
    ] as Record<string, string>[]) {
      assertError(await api.get(pathname, { headers }), 409, 'ONE_TIME_FILE');
      assertError(await api.get(`${pathname}?download`, { headers }), 409, 'ONE_TIME_FILE');
      const head = await api.call('HEAD', pathname, { headers });
      assert.deepEqual([head.status, head.text], [409, '']);
    }
    for (const method of ['GET', 'HEAD']) {
      // A browser gets the page with this status.
      const opened = await fetch(server.url + pathname, { method, headers: { accept: 'text/html,*/*;q=0.8' } });
      assert.equal(opened.status, 409);
    }
    const { json } = await api.get(pathname);
    assert.match(json.error.message, new RegExp(`POST /api/rooms/ROOM/files/${file.fileId}/claim`));
    assert.equal((await filesIn(server, file.room)).length, 1);
    assert.equal((await api.get((await claimed(server, file)).url)).text, 'a secret text');
  });

  it('[ONCE-3] is read with its claim, in ranges, and never from a cache', async (t) => {
    const server = await startTestServer(t, noLimits);
    const { api } = server;
    const file = await uploadOnce(server);
    const { json } = await claim(server, file);
    assert.deepEqual(Object.keys(json).sort(), ['claim', 'expiresAt', 'url']);
    assert.match(json.claim, /^[0-9a-f]{32}$/);
    assert.equal(json.url, `${file.fileUrl}?claim=${json.claim}`);
    assert.equal(Date.parse(json.expiresAt), server.clock.now + 30 * minute);
    const whole = await api.get(json.url);
    assert.deepEqual([whole.status, whole.text], [200, 'a secret text']);
    assert.equal(whole.headers.get('cache-control'), 'private, no-store');
    assert.match(whole.headers.get('content-disposition') ?? '', /^attachment;/);
    assert.equal(whole.headers.get('content-type'), 'text/plain; charset=utf-8');
    const part = await api.get(json.url, { headers: { range: 'bytes=2-7' } });
    assert.deepEqual([part.status, part.text], [206, 'secret']);
    assert.equal((await api.call('HEAD', json.url)).headers.get('content-length'), '13');
    assert.equal((await api.get(json.url, { headers: { range: 'bytes=99-' } })).status, 416);
    assert.equal((await filesIn(server, file.room)).length, 1, 'reading does not erase it');
  });

  it('[ONCE-3] [PIN-2] is claimed and confirmed with the PIN of its room; the claim opens its URL alone', async (t) => {
    const server = await sharedServer(t);
    const pin = '0427';
    const file = await uploadOnce(server, 'text', { pin });
    assertError(await claim(server, file), 401, 'PIN_REQUIRED');
    assertError(await claim(server, file, { pin: '9999' }), 403, 'PIN_INCORRECT');
    const { json } = await claim(server, file, { json: { pin } });
    assert.equal((await server.api.get(json.url)).text, 'text');
    assertError(await confirm(server, file.room, json.claim), 401, 'PIN_REQUIRED');
    assertError(await release(server, file.room, json.claim), 401, 'PIN_REQUIRED');
    assert.equal((await confirm(server, file.room, json.claim, { pin })).status, 200);
  });

  it('[ONCE-3] must be a one-time file of that room', async (t) => {
    const server = await sharedServer(t);
    const file = await uploadOnce(server);
    const other = await server.api.room();
    assertError(await claim(server, { ...file, room: other }), 404, 'FILE_NOT_FOUND');
    assertError(await claim(server, { ...file, fileId: noClaim }), 404, 'FILE_NOT_FOUND');
    assertError(await claim(server, { ...file, fileId: 'x' }), 404, 'FILE_NOT_FOUND');
    const { json } = await server.api.upload(other, 'a.txt', 'x');
    const ordinary = { room: other, fileId: json.fileUrl.split('/').at(-2), fileUrl: json.fileUrl };
    assertError(await claim(server, ordinary), 409, 'NOT_ONE_TIME_FILE');
    assert.equal((await server.api.get(`${json.fileUrl}?claim=${noClaim}`)).status, 200, 'an ordinary file needs none');
  });

  it('[slow] [ONCE-4] is given to one of two who claim it at the same time, in each of 50 rounds', async (t) => {
    const server = await sharedServer(t);
    for (let round = 0; round < 50; round++) {
      const file = await uploadOnce(server);
      const responses = await Promise.all([claim(server, file), claim(server, file)]);
      const [won, lost] = responses.toSorted((a, b) => a.status - b.status) as [ApiResponse, ApiResponse];
      assert.equal(won.status, 200);
      const { retryAfter } = assertError(lost, 409, 'FILE_CLAIMED');
      assert.equal(retryAfter, 30 * 60);
      assert.equal(lost.headers.get('retry-after'), String(30 * 60));
    }
  });

  it('[ONCE-5] is erased when its receipt is confirmed, and members learn that it was received', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploadOnce(server);
    const device = await joinRoom(t, server.url, file.room);
    await device.next('snapshot');
    const { claim: token, url } = await claimed(server, file);
    const done = await confirm(server, file.room, token);
    assert.deepEqual(done.json, { success: true, message: 'The file was received and erased.' });
    const { fileId, received } = await device.next('file-removed');
    assert.deepEqual([fileId, received], [file.fileId, true]);
    await assertErased(server);
    assert.deepEqual(await filesIn(server, file.room), []);
    assert.equal((await server.api.get('/api/limits')).json.storedBytes, 0);
    assertError(await server.api.get(url), 404, 'FILE_NOT_FOUND');
    assertError(await server.api.post(`/api/rooms/${file.room}/files/${file.fileId}/restore`), 404, 'FILE_NOT_FOUND');
    assertError(await claim(server, file), 404, 'FILE_NOT_FOUND');
    assertError(await confirm(server, file.room, token), 404, 'CLAIM_NOT_FOUND', 'a second time');
    assertError(await release(server, file.room, token), 404, 'CLAIM_NOT_FOUND');
  });

  it('[ONCE-6] is available again when it is given back or the claim expires', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploadOnce(server);
    const first = await claimed(server, file);
    assert.equal((await release(server, file.room, first.claim)).status, 200);
    assertError(await server.api.get(first.url), 404, 'CLAIM_NOT_FOUND');
    const second = await claimed(server, file);
    server.clock.advance(30 * minute - 1000);
    assert.equal(assertError(await claim(server, file), 409, 'FILE_CLAIMED').retryAfter, 1);
    assert.equal((await server.api.get(second.url)).status, 200);
    server.clock.advance(1000);
    assertError(await server.api.get(second.url), 404, 'CLAIM_NOT_FOUND');
    const third = await claimed(server, file);
    assertError(await confirm(server, file.room, second.claim), 404, 'CLAIM_NOT_FOUND', 'someone else has claimed it');
    assert.equal((await server.api.get(third.url)).text, 'a secret text');
  });

  it('[ONCE-3] [ONCE-5] finishes a download that started before the claim expired, and its confirmation', async (t) => {
    const server = await startTestServer(t, noLimits);
    const text = 'x'.repeat(8 * 1024 * 1024);
    const file = await uploadOnce(server, text);
    const { claim: token, url } = await claimed(server, file);
    const { promise: size, resolve, reject } = Promise.withResolvers<number>();
    request(url, (response) => {
      let bytes = 0;
      server.clock.advance(31 * minute);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve(bytes));
      response.on('error', reject);
    }).end();
    assert.equal(await size, text.length);
    assertError(await server.api.get(url), 404, 'CLAIM_NOT_FOUND');
    assert.equal((await confirm(server, file.room, token)).status, 200);
    assert.deepEqual(await filesIn(server, file.room), []);
  });

  it('[ONCE-7] needs its own claim, in its own room', async (t) => {
    const server = await sharedServer(t);
    const [file, other] = [await uploadOnce(server), await uploadOnce(server)];
    const [mine, theirs] = [await claimed(server, file), await claimed(server, other)];
    for (const wrong of [
      noClaim,
      theirs.claim,
      '',
      'x',
      `${mine.claim}0`,
      mine.claim.toUpperCase().replace(/^/, 'A'),
    ]) {
      const path = new URL(file.fileUrl).pathname;
      assertError(await server.api.get(`${path}?claim=${wrong}`), 404, 'CLAIM_NOT_FOUND', wrong);
      if (wrong === '') continue;
      assertError(await confirm(server, file.room, wrong), 404, 'CLAIM_NOT_FOUND', wrong);
      assertError(await release(server, file.room, wrong), 404, 'CLAIM_NOT_FOUND', wrong);
    }
    assert.equal((await server.api.get(mine.url)).status, 200);
    assert.equal((await server.api.get(theirs.url)).status, 200);
  });

  it('[ONCE-7] is confirmed and given back even if all requests are used up', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '7' });
    const [kept, received] = [await uploadOnce(server), await uploadOnce(server)];
    const [first, second] = [await claimed(server, kept), await claimed(server, received)];
    await server.api.get('/api/health');
    assertError(await claim(server, kept), 429, 'RATE_LIMITED');
    assert.equal((await release(server, kept.room, first.claim)).status, 200);
    assert.equal((await confirm(server, received.room, second.claim)).status, 200);
  });

  it('[ONCE-9] keeps its claim over a restart', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploadOnce(server);
    const { claim: token, url } = await claimed(server, file);
    await server.restart();
    assertError(await claim(server, file), 409, 'FILE_CLAIMED');
    assert.equal((await server.api.get(new URL(url).pathname + new URL(url).search)).text, 'a secret text');
    assert.equal((await confirm(server, file.room, token)).status, 200);
  });

  it('[ONCE-10] is hidden from its claim while it is removed, and erased like any other', async (t) => {
    const server = await startTestServer(t, noLimits, { sweepEveryMs: 20 });
    const file = await uploadOnce(server);
    const { url } = await claimed(server, file);
    const path = `/api/rooms/${file.room}/files/${file.fileId}`;
    await server.api.delete(path);
    assertError(await server.api.get(url), 404, 'FILE_NOT_FOUND');
    assertError(await claim(server, file), 404, 'FILE_NOT_FOUND');
    assert.equal((await server.api.post(`${path}/restore`)).status, 200);
    assert.equal((await server.api.get(url)).text, 'a secret text');
    const [restored] = await filesIn(server, file.room);
    assert.equal(restored.once, true);
    await server.api.delete(path);
    server.clock.advance(61_000);
    await assertErased(server);
    assertError(await server.api.post(`${path}/restore`), 404, 'FILE_NOT_FOUND');
  });

  it('[ONCE-8] has a claim that is in no list, and at most one', async (t) => {
    const server = await sharedServer(t);
    const file = await uploadOnce(server);
    const tokens = new Set<string>();
    for (let n = 0; n < 5; n++) {
      const { claim: token } = await claimed(server, file);
      tokens.add(token);
      for (const path of [`/api/rooms/${file.room}`, `/api/rooms/${file.room}/files`]) {
        assert.ok(!(await server.api.get(path)).text.includes(token));
      }
      await release(server, file.room, token);
    }
    assert.equal(tokens.size, 5);
  });

  it('[ONCE-3] [API-3] is deleted with its room, and its claim with it', async (t) => {
    const server = await startTestServer(t, noLimits);
    const file = await uploadOnce(server);
    const { claim: token, url } = await claimed(server, file);
    await server.api.delete(`/api/rooms/${file.room}`);
    assertError(await server.api.get(url), 404, 'FILE_NOT_FOUND');
    assertError(await confirm(server, file.room, token), 404, 'ROOM_NOT_FOUND');
    await assertErased(server);
  });
});
