/** Editing with requests: parts of the text, and appending. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

async function roomWith({ api }: TestServer, content: string) {
  const code = await api.room();
  const path = `/api/rooms/${code}/content`;
  if (content !== '') await api.post(path, { json: { content } });
  return { path, patch: (json: object, headers = {}) => api.patch(path, { json, headers }) };
}

describe('PATCH …/content', () => {
  it('[TEXT-9] edits parts of the text, and returns the version', async (t) => {
    const server = await sharedServer(t);
    const { path, patch } = await roomWith(server, 'Hello world');
    const edits = [
      { from: 0, to: 1, insert: 'J' },
      { from: 11, to: 11, insert: '!' },
    ];
    const { status, headers, json } = await patch({ edits, baseVersion: 1 });
    assert.equal(status, 200);
    assert.deepEqual([json.success, json.version, headers.get('etag')], [true, 2, '"2"']);
    const read = await server.api.get(path);
    assert.deepEqual([read.json.content, read.json.timestamp], ['Jello world!', json.timestamp]);
  });

  it('[TEXT-9] uses the current version without a base version, and appends to the end', async (t) => {
    const server = await sharedServer(t);
    const { path, patch } = await roomWith(server, 'a');
    await patch({ edits: [{ from: 0, to: 1, insert: 'b' }] });
    assert.equal((await patch({ append: '\r\nc\u0000' })).json.version, 3);
    assert.equal((await server.api.get(path)).json.content, 'b\r\nc\u0000');
  });

  it('[TEXT-10] rebases over later writes, and loses none of 50 concurrent edits', async (t) => {
    const server = await sharedServer(t);
    const { path, patch } = await roomWith(server, '');
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const lines = numbers.map((n) => `line ${n}\n`);
    const [append, rest] = [lines.slice(0, 25), lines.slice(25)];
    const responses = await Promise.all([
      ...append.map((line) => patch({ append: line })),
      ...rest.map((insert) => patch({ edits: [{ from: 0, to: 0, insert }], baseVersion: 0 })),
    ]);
    assert.deepEqual(
      responses.map(({ json }) => json.version).toSorted((a, b) => a - b),
      numbers.map((n) => n + 1),
    );
    const { content } = (await server.api.get(path)).json;
    assert.deepEqual(content.split(/(?<=\n)/).toSorted(), lines.toSorted());
  });

  it('[TEXT-10] orders insertions at the same position by device id', async (t) => {
    const server = await sharedServer(t);
    const { path, patch } = await roomWith(server, '');
    const write = (insert: string, device?: string) =>
      patch({ edits: [{ from: 0, to: 0, insert }], baseVersion: 0 }, device ? { 'x-device-id': device } : {});
    await write('none ');
    await write('b ', 'b');
    await write('c ', 'c');
    await write('a ', 'a');
    assert.equal((await server.api.get(path)).json.content, 'a b c none ');
  });

  it('[TEXT-4] [TEXT-9] respects If-Match', async (t) => {
    const server = await sharedServer(t);
    const { path, patch } = await roomWith(server, 'x');
    assert.equal((await patch({ append: 'y' }, { 'if-match': '"1"' })).status, 200);
    const conflict = await patch({ append: 'z' }, { 'if-match': '"1"' });
    assertError(conflict, 412, 'VERSION_CONFLICT');
    assert.deepEqual([conflict.json.error.details.version, conflict.json.error.details.content], [2, 'xy']);
    assert.equal((await server.api.get(path)).json.content, 'xy');
  });

  it('[TEXT-11] rejects invalid edits of this text, and changes nothing', async (t) => {
    const server = await startTestServer(t, { POPROOM_CONTENT_MAX: '1KiB', POPROOM_FREE_LIMIT: '0' });
    const { path, patch } = await roomWith(server, 'ab😀c');
    const edit = (from: number, to: number, insert = '') => ({ edits: [{ from, to, insert }], baseVersion: 1 });
    const refused: [object, number, string][] = [
      [{}, 400, 'VALIDATION_FAILED'],
      [{ edits: [] }, 400, 'VALIDATION_FAILED'],
      [{ ...edit(0, 0), append: 'x' }, 400, 'VALIDATION_FAILED'],
      [{ append: 'x', baseVersion: 1 }, 400, 'VALIDATION_FAILED'],
      [{ append: 7 }, 400, 'VALIDATION_FAILED'],
      [{ append: '\ud800' }, 400, 'VALIDATION_FAILED'],
      [{ edits: [{ from: 0, to: 0 }] }, 400, 'VALIDATION_FAILED'],
      [{ edits: [{ from: 0, to: 0, insert: '', more: 1 }] }, 400, 'VALIDATION_FAILED'],
      [edit(0, 6), 400, 'VALIDATION_FAILED'],
      [edit(2, 1), 400, 'VALIDATION_FAILED'],
      [edit(3, 3, 'x'), 400, 'VALIDATION_FAILED'],
      [edit(0, 3), 400, 'VALIDATION_FAILED'],
      [edit(0, 0, '\udc00'), 400, 'VALIDATION_FAILED'],
      [{ ...edit(0, 0, 'x'), baseVersion: 2 }, 412, 'VERSION_CONFLICT'],
      [edit(0, 0, 'x'.repeat(1020)), 413, 'CONTENT_TOO_LARGE'],
      [{ append: 'x'.repeat(1020) }, 413, 'CONTENT_TOO_LARGE'],
    ];
    for (const [json, status, code] of refused) assertError(await patch(json), status, code);
    assert.match((await patch(edit(0, 9))).json.error.message, /edits\[0\].*outside/);
    const { json, headers } = await server.api.get(path);
    assert.deepEqual([json.content, headers.get('etag')], ['ab😀c', '"1"']);
  });

  it('[TEXT-11] allows a text over a lowered limit to be shortened', async (t) => {
    const server = await startTestServer(t, { POPROOM_CONTENT_MAX: '2KiB' });
    const { path, patch } = await roomWith(server, 'x'.repeat(2000));
    await server.restart({ POPROOM_CONTENT_MAX: '1KiB' });
    assert.equal((await patch({ edits: [{ from: 0, to: 100, insert: '' }] })).status, 200);
    assertError(await patch({ append: 'y' }), 413, 'CONTENT_TOO_LARGE');
    assert.equal((await server.api.get(path)).json.content.length, 1900);
  });

  it('[PIN-2] requires the PIN', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room({ pin: '0427' })}/content`;
    assertError(await api.patch(path, { json: { append: 'x' } }), 401, 'PIN_REQUIRED');
    assert.equal((await api.patch(path, { json: { append: 'x', pin: '0427' } })).status, 200);
  });

  it('[slow] [TEXT-6] [TEXT-8] keeps the text across a restart, however many edits it has', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const { path, patch } = await roomWith(server, '');
    for (let n = 0; n < 150; n++) await patch({ append: `${n},` });
    const { content } = (await server.api.get(path)).json;
    await server.restart();
    const after = await server.api.get(path);
    assert.deepEqual([after.json.content, after.headers.get('etag')], [content, '"150"']);
  });
});
