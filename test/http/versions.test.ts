/** Versions of a text: a conditional write never overwrites the change of another client. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

describe('the version of a text', () => {
  it('[TEXT-3] increases by one with each write, and both endpoints return it', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
    for (const tag of ['"1"', '"2"', '"3"']) {
      assert.equal((await write('the same')).headers.get('etag'), tag);
      assert.equal((await api.get(path)).headers.get('etag'), tag);
      assert.equal((await api.call('HEAD', path)).headers.get('etag'), tag);
    }
  });

  it('[TEXT-3] does not increase with uploads', async (t) => {
    const { api } = await sharedServer(t);
    const { path, code, write } = await room(api);
    await write('x');
    await api.upload(code, 'a.txt', 'abc');
    assert.equal((await api.get(path)).headers.get('etag'), '"1"');
  });

  it('[TEXT-3] is unique for each of 50 concurrent writes, and the last one stays', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    const written = await Promise.all(Array.from({ length: 50 }, (_, n) => write(`text ${n}`)));
    const byTag = new Map(written.map(({ headers, json }) => [headers.get('etag'), json.content]));
    assert.equal(byTag.size, 50);
    const { headers, json } = await api.get(path);
    assert.equal(headers.get('etag'), '"50"');
    assert.equal(json.content, byTag.get('"50"'));
  });
});

describe('a write with If-Match', () => {
  it('[TEXT-4] succeeds for the current version, alone, in a list, or as *', async (t) => {
    const { api } = await sharedServer(t);
    const { write } = await room(api);
    const matching = ['"0"', '"1"', '"9", "2"', '"3","x"', ' "4" ', '*', ' * ', '"x,y" , "7"', 'W/"9", "8"'];
    for (const [version, ifMatch] of matching.entries()) {
      const response = await write(`text ${version}`, ifMatch);
      assert.equal(response.status, 200, ifMatch);
      assert.equal(response.headers.get('etag'), `"${version + 1}"`);
    }
  });

  it('[TEXT-4] changes nothing for another version, and returns the current one', async (t) => {
    const { api, clock } = await startTestServer(t);
    const { path, write } = await room(api);
    await write('first');
    const { timestamp } = (await write('second')).json;
    clock.advance(1000);
    const others = ['"1"', '"3"', '"0"', '"02"', '"2.0"', '""', '"x"', '"1", "3"', '"99999999999999999999"'];
    // HTTP has a weak tag match nothing where something is to be changed.
    const weak = ['W/"2"', '"1", W/"2"', 'W/"2","3"'];
    for (const ifMatch of [...others, ...weak]) {
      const details = assertError(await write('third', ifMatch), 412, 'VERSION_CONFLICT', ifMatch);
      assert.deepEqual(details, { content: 'second', version: 2, timestamp });
    }
    const { json, headers } = await api.get(path);
    assert.deepEqual(json, { content: 'second', version: 2, timestamp });
    assert.equal(headers.get('etag'), '"2"');
  });

  it('[TEXT-4] is rejected if it is malformed, and nothing is written', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    for (const ifMatch of ['0', '', '"0', '0"', "'0'", '"0" "1"', '*, "0"', 'w/"0"', '"0";', '"0",,x', 'null']) {
      const response = await write('x', ifMatch);
      assert.equal(assertError(response, 400, 'VALIDATION_FAILED', ifMatch).field, 'If-Match');
    }
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
  });

  it('[slow] [TEXT-4] succeeds once of 50 concurrent ones for the same version', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    for (let round = 0; round < 5; round++) {
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => write(`text ${n}`, `"${round}"`)));
      const winners = responses.filter(({ status }) => status === 200);
      assert.equal(winners.length, 1);
      assert.equal(responses.filter(({ code }) => code === 'VERSION_CONFLICT').length, 49);
      const { json, headers } = await api.get(path);
      assert.equal(json.content, winners[0]?.json.content);
      assert.equal(headers.get('etag'), `"${round + 1}"`);
    }
  });
});

describe('a read with If-None-Match', () => {
  const readAt = (api: TestServer['api'], path: string, tag: string) =>
    api.get(path, { headers: { 'if-none-match': tag } });

  it('[TEXT-5] returns 304 without a body for the current version', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    await write('x');
    for (const tag of ['"1"', 'W/"1"', '"0", "1"', '"0","1" ,"2"', '*']) {
      const { status, text, headers } = await readAt(api, path, tag);
      assert.equal(status, 304, tag);
      assert.equal(text, '');
      assert.equal(headers.get('etag'), '"1"');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  it('[TEXT-5] returns the text for another version, or an invalid condition', async (t) => {
    const { api } = await sharedServer(t);
    const { path, write } = await room(api);
    await write('x');
    for (const tag of ['"0"', '"2"', '"11"', '1', '""', 'nonsense', '"0", "2"']) {
      const { status, json } = await readAt(api, path, tag);
      assert.equal(status, 200, tag);
      assert.equal(json.content, 'x');
    }
    await write('y');
    assert.equal((await readAt(api, path, '"1"')).json.content, 'y');
    assert.equal((await readAt(api, path, '"2"')).status, 304);
  });

  it('[TEXT-5] [PIN-2] still requires the PIN', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room({ pin: '0427' })}/content`;
    assertError(await readAt(api, path, '*'), 401, 'PIN_REQUIRED');
  });
});

async function room(api: TestServer['api']) {
  const code = await api.room();
  const path = `/api/rooms/${code}/content`;
  const write = (content: string, ifMatch?: string) =>
    api.post(path, { json: { content }, ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }) });
  return { code, path, write };
}
