/** Files over HTTP: whole and in ranges, with protective headers, until they are removed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const text = '0123456789';

async function uploadedFile(
  { api }: TestServer,
  { name = 'digits.txt', type = 'text/plain', body = text }: { name?: string; type?: string; body?: string } = {},
): Promise<{ room: string; fileUrl: string; fileId: string }> {
  const room = await api.room();
  const { fileUrl } = (await api.upload(room, name, body, { headers: { 'content-type': type } })).json;
  return { room, fileUrl, fileId: new URL(fileUrl).pathname.split('/')[2] ?? '' };
}

describe('the URL of a file', () => {
  it('[FILE-1] is under /files, of 128 random bits and the name, and different for each file', async (t) => {
    const server = await sharedServer(t);
    const seen = new Set<string>();
    for (let i = 0; i < 5; i++) {
      const { fileUrl } = await uploadedFile(server, { name: 'my notes.txt' });
      assert.match(fileUrl, new RegExp(`^${server.url}/files/[0-9a-f]{32}/my%20notes\\.txt$`));
      seen.add(fileUrl);
    }
    assert.equal(seen.size, 5);
  });

  it('[FILE-1] requires neither PIN nor key, and does not count', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const room = await server.api.room({ pin: '0427' });
    const { fileUrl } = (await server.api.upload(room, 'a.txt', text, { pin: '0427' })).json;
    for (let i = 0; i < 4; i++) {
      const { status, headers } = await server.api.get(fileUrl);
      assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [200, '0']);
    }
  });

  it('[FILE-1] finds the file by its id alone, whatever name follows, and not by part of the id', async (t) => {
    const server = await sharedServer(t);
    const { fileId } = await uploadedFile(server);
    assert.equal((await server.api.get(`/files/${fileId}/other.name`)).text, text);
    const wrong = [
      fileId.slice(1),
      `${fileId}0`,
      fileId.toUpperCase().replace(/\d/g, 'A'),
      '0'.repeat(32),
      '%00',
      '..%2f',
    ];
    for (const id of wrong) {
      const { status, code } = await server.api.get(`/files/${id}/digits.txt`);
      assert.deepEqual([status, code], [404, 'FILE_NOT_FOUND'], id);
    }
    assert.equal((await server.api.get(`/files/${fileId}`)).status, 404);
  });

  it('[FILE-1] [FILE-5] stops working with the file, with its room, and when the room expires', async (t) => {
    const server = await startTestServer(t);
    const { api, clock } = server;
    const removed = await uploadedFile(server);
    const deleted = await uploadedFile(server);
    const expired = await uploadedFile(server);
    const etag = (await api.get(expired.fileUrl)).headers.get('etag') ?? '';
    await api.delete(`/api/rooms/${removed.room}/files/${removed.fileId}`);
    await api.delete(`/api/rooms/${deleted.room}`);
    assert.equal((await api.get(expired.fileUrl)).status, 200);
    clock.advance(24 * 3600_000);
    for (const { fileUrl } of [removed, deleted, expired]) {
      for (const headers of [{}, { range: 'bytes=0-1' }, { 'if-none-match': etag }]) {
        const { status, code } = await api.get(fileUrl, { headers });
        assert.deepEqual([status, code], [404, 'FILE_NOT_FOUND']);
      }
    }
  });

  it('[FILE-6] [LINK-1] starts with POPROOM_FILES_URL, or else with POPROOM_PUBLIC_URL', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org/' });
    const first = await uploadedFile(server);
    assert.match(first.fileUrl, /^https:\/\/pop\.example\.org\/files\/[0-9a-f]{32}\/digits\.txt$/);
    await server.restart({ POPROOM_FILES_URL: 'https://bytes.example.net/pop' });
    const { fileUrl, fileId, room } = await uploadedFile(server);
    assert.equal(fileUrl, `https://bytes.example.net/pop/${fileId}/digits.txt`);
    assert.equal((await server.api.get(`/api/rooms/${room}/files`)).json.files[0].fileUrl, fileUrl);
    assert.equal((await server.api.get(`/files/${fileId}/digits.txt`)).text, text);
  });
});

describe('a file', () => {
  it('[FILE-2] supports GET and HEAD', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    const read = await server.api.get(fileUrl);
    const look = await server.api.call('HEAD', fileUrl);
    assert.deepEqual([read.status, read.text], [200, text]);
    assert.deepEqual([look.status, look.text], [200, '']);
    for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges']) {
      assert.equal(look.headers.get(name), read.headers.get(name), name);
    }
    assert.equal(read.headers.get('content-length'), '10');
    const post = await server.api.post(fileUrl);
    assert.deepEqual(
      [post.status, post.code, post.headers.get('allow')],
      [405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'],
    );
  });

  it('[FILE-9] has the time of its upload, and is not sent again to a client that has it', async (t) => {
    const server = await startTestServer(t);
    const { clock, api } = server;
    clock.advance(123);
    const uploadedAt = clock.now;
    const { fileUrl } = await uploadedFile(server);
    const time = new Date(uploadedAt).toUTCString();
    assert.equal((await api.get(fileUrl)).headers.get('last-modified'), time);
    const since = async (date: string, more = {}) =>
      (await api.get(fileUrl, { headers: { 'if-modified-since': date, ...more } })).status;
    assert.equal(await since(time), 304);
    assert.equal(await since(new Date(uploadedAt + 3600_000).toUTCString()), 304);
    assert.equal(await since(new Date(uploadedAt - 1000).toUTCString()), 200);
    assert.equal(await since('yesterday'), 200);
    assert.equal(await since(time, { 'if-none-match': '"other"' }), 200, 'the tag decides');
  });

  it('[API-12] is listed with as many others as the client wants', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    for (const name of ['a', 'b', 'c']) await api.upload(room, name, '');
    for (const list of ['files', 'history']) {
      for (const limit of ['0', '-1', '1.5', 'x', '', '10000']) {
        const response = await api.get(`/api/rooms/${room}/${list}?limit=${limit}`);
        assert.equal(assertError(response, 400, 'VALIDATION_FAILED').field, 'limit');
      }
    }
    const names = async (limit: number) =>
      (await api.get(`/api/rooms/${room}/files?limit=${limit}`)).json.files.map(
        ({ fileName }: { fileName: string }) => fileName,
      );
    assert.deepEqual(await names(2), ['a', 'b']);
    assert.deepEqual(await names(9999), ['a', 'b', 'c']);
  });

  it('[FILE-10] is removed only in the version that If-Match names', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const { room, fileId, fileUrl } = await uploadedFile(server);
    const etag = (await api.get(fileUrl)).headers.get('etag') ?? '';
    const remove = (expected: string) =>
      api.delete(`/api/rooms/${room}/files/${fileId}`, { headers: { 'if-match': expected } });
    for (const other of ['"other"', `W/${etag}`, '"a", "b"']) {
      assertError(await remove(other), 412, 'VERSION_CONFLICT', other);
    }
    assert.equal(assertError(await remove('other'), 400, 'VALIDATION_FAILED').field, 'If-Match');
    assert.equal((await api.get(fileUrl)).status, 200);
    assert.equal((await remove(`"other", ${etag}`)).status, 200);
    assertError(await remove('*'), 404, 'FILE_NOT_FOUND');
  });

  const ranges: [range: string, part: string, contentRange: string][] = [
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=4-6', '456', 'bytes 4-6/10'],
    ['bytes=9-9', '9', 'bytes 9-9/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=0-', text, 'bytes 0-9/10'],
    ['bytes=7-99', '789', 'bytes 7-9/10'],
    [`bytes=7-${'9'.repeat(30)}`, '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-10', text, 'bytes 0-9/10'],
    ['bytes=-99', text, 'bytes 0-9/10'],
    ['BYTES=4-6', '456', 'bytes 4-6/10'],
  ];
  it('[FILE-2] supports ranges: first, middle and last bytes, with and without an end', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    for (const [range, part, contentRange] of ranges) {
      const { status, headers, text: got } = await server.api.get(fileUrl, { headers: { range } });
      assert.deepEqual([status, got, headers.get('content-range')], [206, part, contentRange], range);
      assert.equal(headers.get('content-length'), String(part.length));
      const look = await server.api.call('HEAD', fileUrl, { headers: { range } });
      assert.deepEqual([look.status, look.headers.get('content-length')], [206, String(part.length)]);
    }
  });

  it('[ERR-9] names the size of a file in words that fit the number', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    for (const [body, expected] of [
      ['x', 'which has 1 byte.'],
      ['x'.repeat(1234), 'which has 1,234 bytes.'],
    ] as const) {
      const { fileUrl } = (await api.upload(room, 'a.bin', body)).json;
      const { message } = (await api.get(fileUrl, { headers: { range: 'bytes=9999-' } })).json.error;
      assert.ok(message.endsWith(expected), message);
    }
  });

  it('[FILE-2] returns 416 for a range outside its bytes', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=999-', 'bytes=-0']) {
      const { status, code, headers } = await server.api.get(fileUrl, { headers: { range } });
      assert.deepEqual([status, code, headers.get('content-range')], [416, 'VALIDATION_FAILED', 'bytes */10'], range);
    }
  });

  it('[FILE-2] is returned completely for several ranges, another unit or an invalid range', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    const ranges = [
      'bytes=0-1,4-5',
      'bytes=5-2',
      'bytes=',
      'bytes=-',
      'bytes=a-b',
      'bytes',
      'items=0-1',
      'items=99-',
      '0-1',
      'bytes=1.5-2',
    ];
    for (const range of ranges) {
      const { status, text: got, headers } = await server.api.get(fileUrl, { headers: { range } });
      assert.deepEqual([status, got, headers.get('content-range')], [200, text, null], range);
    }
  });

  it('[FILE-2] is returned in part under If-Range only while it is unchanged', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    const etag = (await server.api.get(fileUrl)).headers.get('etag') ?? '';
    const part = (condition: string) =>
      server.api.get(fileUrl, { headers: { range: 'bytes=0-3', 'if-range': condition } });
    assert.equal((await part(etag)).status, 206);
    for (const other of ['"other"', `W/${etag}`, 'Sun, 15 Nov 2026 09:30:00 GMT', 'rubbish']) {
      assert.deepEqual([(await part(other)).status, (await part(other)).text], [200, text], other);
    }
  });

  it('[FILE-2] [FILE-5] is not sent again to a client that has it', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server);
    const etag = (await server.api.get(fileUrl)).headers.get('etag') ?? '';
    assert.match(etag, /^"[0-9a-f]{32}"$/);
    const ask = (named: string, more: RequestOptions['headers'] = {}) =>
      server.api.get(fileUrl, { headers: { 'if-none-match': named, ...more } });
    for (const named of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text: got, headers } = await ask(named);
      assert.deepEqual([status, got, headers.get('etag')], [304, '', etag], named);
    }
    assert.equal((await ask(etag, { range: 'bytes=0-1' })).status, 304);
    assert.equal((await ask('"other"')).text, text);
    const twin = await uploadedFile(server);
    assert.notEqual((await server.api.get(twin.fileUrl)).headers.get('etag'), etag);
    assert.ok(!etag.includes(new URL(fileUrl).pathname.split('/')[2] ?? ''), 'the tag does not tell the address');
  });

  it('[FILE-2] without bytes is returned completely for every range', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server, { body: '' });
    for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-5']) {
      const { status, text: got } = await server.api.get(fileUrl, { headers: { range } });
      assert.deepEqual([status, got], [200, '']);
    }
  });
});

describe('the headers of a file', () => {
  it('[FILE-3] [FILE-5] prevent it from acting on the origin and from being cached, in every kind of response', async (t) => {
    const server = await sharedServer(t);
    for (const type of ['text/html', 'text/plain', 'image/png', 'image/svg+xml']) {
      const { fileUrl } = await uploadedFile(server, { type });
      const etag = (await server.api.get(fileUrl)).headers.get('etag') ?? '';
      const responses = [
        await server.api.get(fileUrl),
        await server.api.get(fileUrl, { headers: { range: 'bytes=0-1' } }),
        await server.api.get(fileUrl, { headers: { 'if-none-match': etag } }),
        await server.api.call('HEAD', fileUrl),
      ];
      for (const response of responses) assertHarmless(response);
    }
  });

  const shown = [
    ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'image/tiff', 'image/heic'],
    ['image/x-icon', 'audio/mpeg', 'audio/wav', 'video/mp4', 'video/webm', 'application/pdf'],
  ].flat();
  it('[FILE-4] show images, audio, video, PDF and plain text with their own type', async (t) => {
    const server = await sharedServer(t);
    for (const type of shown) {
      const { fileUrl } = await uploadedFile(server, { name: 'thing', type });
      const { headers } = await server.api.get(fileUrl);
      assert.equal(headers.get('content-type'), type);
      assert.equal(headers.get('content-disposition'), 'inline; filename=thing');
    }
    const { fileUrl } = await uploadedFile(server, { type: 'Text/Plain; charset=utf-7' });
    assert.equal((await server.api.get(fileUrl)).headers.get('content-type'), 'text/plain; charset=utf-8');
  });

  const attached = [
    ['text/html', 'TEXT/HTML', 'image/svg+xml', 'text/xml', 'application/xml', 'application/xhtml+xml', 'text/css'],
    ['text/javascript', 'application/javascript', 'application/json', 'application/zip', 'application/octet-stream'],
    [
      'text/plain, text/html',
      'image/png/html',
      'audio',
      'rubbish',
      'image/svg+xml; a=image/png',
      'text/cache-manifest',
    ],
  ].flat();
  it('[FILE-4] make everything else an attachment', async (t) => {
    const server = await sharedServer(t);
    for (const type of attached) {
      const { fileUrl } = await uploadedFile(server, { name: 'thing', type });
      const { headers } = await server.api.get(fileUrl);
      assert.equal(headers.get('content-type'), 'application/octet-stream', type);
      assert.equal(headers.get('content-disposition'), 'attachment; filename=thing', type);
    }
  });

  it('[FILE-4] make a file an attachment on request, with its own type', async (t) => {
    const server = await sharedServer(t);
    const { fileUrl } = await uploadedFile(server, { name: 'thing', type: 'image/png' });
    for (const query of ['?download', '?download=1']) {
      const { headers } = await server.api.get(fileUrl + query);
      assert.equal(headers.get('content-type'), 'image/png');
      assert.equal(headers.get('content-disposition'), 'attachment; filename=thing');
    }
  });

  it('[FILE-4] contain names in all scripts, and quotes', async (t) => {
    const server = await sharedServer(t);
    const disposition = async (name: string) =>
      (await server.api.get((await uploadedFile(server, { name })).fileUrl)).headers.get('content-disposition') ?? '';
    assert.equal(
      await disposition('a "b" c.txt'),
      `inline; filename="a _b_ c.txt"; filename*=UTF-8''a%20%22b%22%20c.txt`,
    );
    for (const name of ['naïve.txt', '履歴書.pdf', '😀.txt', "it's (100%).txt", '%41.txt']) {
      const encoded = /filename\*=UTF-8''(\S+)$/.exec(await disposition(name))?.[1];
      const plain = /filename="([^"]*)"$/.exec(await disposition(name))?.[1];
      assert.equal(encoded === undefined ? plain : decodeURIComponent(encoded), name);
    }
  });

  it('[FILE-8] contain a fallback name of harmless ASCII characters', async (t) => {
    const server = await sharedServer(t);
    const fallbacks = {
      'naïve.txt': 'naive.txt',
      '履歴書.pdf': '___.pdf',
      '😀.txt': '_.txt',
      'a:b*c?d|e<f>.txt': 'a_b_c_d_e_f_.txt',
      '%2e%2e.txt': '_2e_2e.txt',
      '\u2025': '_',
      '\u0301': '_',
    };
    for (const [name, fallback] of Object.entries(fallbacks)) {
      const { fileUrl } = await uploadedFile(server, { name });
      const disposition = (await server.api.get(fileUrl)).headers.get('content-disposition') ?? '';
      assert.equal(/ filename="?([^";]*)"?(;|$)/.exec(disposition)?.[1], fallback, disposition);
    }
  });
});

function assertHarmless({ headers }: ApiResponse): void {
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-security-policy'), "sandbox; default-src 'none'");
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(headers.get('cache-control'), 'private, no-cache');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
}
