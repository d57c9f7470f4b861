/** The text of a room is returned as it was stored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../contract/any-text.ts';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const MiB = 1024 * 1024;

describe('a text', () => {
  it('[API-4] [API-5] is stored and read, each with the time of the write', async (t) => {
    const { api, clock } = await startTestServer(t);
    const path = await pathOf(api);
    clock.advance(1234);
    const writtenAt = new Date(clock.now).toISOString();
    const written = await api.post(path, { json: { content: 'Hello' } });
    assert.equal(written.status, 200);
    assert.deepEqual(written.json, { success: true, content: 'Hello', version: 1, timestamp: writtenAt });
    clock.advance(5678);
    const read = await api.get(path);
    assert.equal(read.status, 200);
    assert.deepEqual(read.json, { content: 'Hello', version: 1, timestamp: writtenAt });
  });

  it('[TEXT-1] is returned unchanged, whatever it is', async (t) => {
    const { api } = await sharedServer(t);
    const path = await pathOf(api);
    const comesBack = fc.asyncProperty(anyText(300), async (content) => {
      assert.equal((await api.post(path, { json: { content } })).json.content, content);
      assert.equal((await api.get(path)).json.content, content);
    });
    await fc.assert(comesBack, { numRuns: 150 });
  });

  it('[TEXT-1] is returned unchanged where others trim, cut or normalise', async (t) => {
    const { api } = await sharedServer(t);
    const path = await pathOf(api);
    const plain = ['', ' ', '\n', '\r\n', '\ta\r\rb \n', '"\\/', '<script>', '{{x}}', '%00', "'; DROP TABLE rooms;--"];
    const odd = [
      '\u0000',
      'a\u0000b',
      '\u0000'.repeat(3),
      '\ufeffx',
      'e\u0301 é ﬁ Å',
      '\u202e',
      '😀👩‍👩‍👧',
      '\u{10ffff}',
    ];
    for (const content of [...plain, ...odd, '\ufffd', '\uffff', '\u2028\u2029', '__proto__', 'null', '0']) {
      assert.equal((await api.post(path, { json: { content } })).json.content, content, JSON.stringify(content));
      assert.equal((await api.get(path)).json.content, content, JSON.stringify(content));
    }
  });

  it('[slow] [TEXT-1] may have exactly 1 MiB of UTF-8', async (t) => {
    const { api } = await sharedServer(t);
    const path = await pathOf(api);
    for (const unit of ['a', 'é', '😀']) {
      const content = unit.repeat(MiB / Buffer.byteLength(unit));
      assert.equal((await api.post(path, { json: { content } })).status, 200);
      assert.ok((await api.get(path)).json.content === content);
      const tooLong = await api.post(path, { json: { content: `${content}a` } });
      assert.deepEqual(assertError(tooLong, 413, 'CONTENT_TOO_LARGE'), { maximum: MiB });
      assert.ok((await api.get(path)).json.content === content);
    }
  });

  it('[slow] [TEXT-1] may have 1 MiB even if every character of it is escaped', async (t) => {
    const { api } = await sharedServer(t);
    const path = await pathOf(api);
    const send = (escaped: string) =>
      api.post(path, { body: `{"content":"${escaped}"}`, headers: { 'content-type': 'application/json' } });
    assert.equal((await send('\\u0000'.repeat(MiB))).status, 200);
    assert.ok((await api.get(path)).json.content === '\u0000'.repeat(MiB));
    assertError(await send('\\u0000'.repeat(MiB + 1)), 413, 'CONTENT_TOO_LARGE');
    assert.equal((await send('\\ud83d\\ude00'.repeat(MiB / 4))).status, 200);
    assert.ok((await api.get(path)).json.content === '😀'.repeat(MiB / 4));
  });

  it('[TEXT-1] may be as long as configured', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_CONTENT_MAX: '10' });
    const path = await pathOf(api);
    assert.equal((await api.post(path, { json: { content: '0123456789' } })).status, 200);
    assertError(await api.post(path, { json: { content: '012345678é' } }), 413, 'CONTENT_TOO_LARGE');
    assertError(await api.post(path, { json: { content: 'x'.repeat(100_000) } }), 413, 'CONTENT_TOO_LARGE');
    assert.equal((await api.get(path)).json.content, '0123456789');
  });

  it('[TEXT-1] is rejected with half of a surrogate pair', async (t) => {
    const { api } = await sharedServer(t);
    const path = await pathOf(api);
    for (const escaped of ['\\ud800', '\\udc00', 'a\\ud83d', '\\ude00\\ud83d', '😀\\udfff', '\\ud800\\ud800\\udc00']) {
      const headers = { 'content-type': 'application/json' };
      const details = assertError(
        await api.post(path, { body: `{"content":"${escaped}"}`, headers }),
        400,
        'VALIDATION_FAILED',
        escaped,
      );
      assert.equal(details.field, 'content');
    }
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
  });

  it('[TEXT-2] is empty before the first write, with the time of the creation of the room', async (t) => {
    const { api, clock } = await startTestServer(t);
    const madeAt = new Date(clock.now).toISOString();
    const path = await pathOf(api);
    clock.advance(60_000);
    const { json, headers } = await api.get(path);
    assert.deepEqual(json, { content: '', version: 0, timestamp: madeAt });
    assert.equal(headers.get('etag'), '"0"');
  });

  it('[TEXT-6] survives a restart with its version and time', async (t) => {
    const { api, clock, restart } = await startTestServer(t);
    const path = await pathOf(api);
    await api.post(path, { json: { content: 'one' } });
    const { timestamp } = (await api.post(path, { json: { content: 'two' } })).json;
    clock.advance(1000);
    await restart();
    const { json, headers } = await api.get(path);
    assert.deepEqual(json, { content: 'two', version: 2, timestamp });
    assert.equal(headers.get('etag'), '"2"');
  });
});

async function pathOf(api: TestServer['api']): Promise<string> {
  return `/api/rooms/${await api.room()}/content`;
}
