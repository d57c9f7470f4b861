/** Invalid bodies: each is reported, and nothing of it is stored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { assertError } from '../support/assert-error.ts';
import { fromRawResponse, requestLines, requestRaw } from '../support/raw-http.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { countRooms } from '../support/store-inspector.ts';

const json = { 'content-type': 'application/json' };

describe('a body that is not JSON', () => {
  const bodies: Record<string, string | Uint8Array> = {
    truncated: '{"content": "x"',
    'with a comma too many': '{"content": "x",}',
    'with single quotes': "{'content': 'x'}",
    'with a bare word': '{content: "x"}',
    'with a comment': '{"content": "x"} // x',
    'two values': '{"content": "x"}{"content": "y"}',
    'a number of another language': '{"content": 0x10}',
    'not a number': '{"content": NaN}',
    'a line break within a string': '{"content": "a\nb"}',
    'an unknown escape': '{"content": "\\x41"}',
    'a form': 'content=x',
    'only spaces': '   ',
    'with a byte order mark': '\ufeff{"content": "x"}',
    'in UTF-16, little end first': Buffer.from('\ufeff{"content": "x"}', 'utf16le'),
    'in UTF-16, big end first': Buffer.from('\ufeff{"content": "x"}', 'utf16le').swap16(),
    'in UTF-16 without a mark': Buffer.from('{"content": "x"}', 'utf16le'),
    'in Latin-1': Buffer.from('{"content": "é"}', 'latin1'),
    'with a surrogate in its bytes': bytes('{"content": "', 0xed, 0xa0, 0x80, '"}'),
    'with a character spelt too long': bytes('{"content": "', 0xc0, 0xaf, '"}'),
    'with half a character': bytes('{"content": "', 0xf0, 0x9f, 0x98, '"}'),
    'with a byte that UTF-8 does not have': bytes('{"content": "', 0xff, '"}'),
    'nested 10,000 deep and never closed': '['.repeat(10_000),
  };

  it('[ERR-2] returns 400 INVALID_JSON, and stores nothing', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const path = `/api/rooms/${await api.room()}/content`;
    const before = await countRooms(server);
    for (const [name, body] of Object.entries(bodies)) {
      assertError(await api.post(path, { body, headers: json }), 400, 'INVALID_JSON', name);
      assertError(await api.post('/api/rooms', { body, headers: json }), 400, 'INVALID_JSON', name);
    }
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
    assert.equal(await countRooms(server), before);
  });

  it('[ERR-2] is rejected by deletions, too', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}`;
    assertError(await api.delete(path, { body: '{', headers: json }), 400, 'INVALID_JSON');
    assert.equal((await api.get(path)).status, 200);
  });
});

describe('a body of the wrong shape', () => {
  const wrong: Record<string, { body: string; field: string | undefined }> = {
    'an array': { body: '[]', field: undefined },
    'an array with the right thing in it': { body: '[{"content": "x"}]', field: undefined },
    'nothing but null': { body: 'null', field: 'content' },
    'a string': { body: '"content"', field: undefined },
    'a number': { body: '1', field: undefined },
    'a truth': { body: 'true', field: undefined },
    'an array nested 10,000 deep': { body: '['.repeat(10_000) + ']'.repeat(10_000), field: undefined },
    'an object nested 10,000 deep': { body: `${'{"content":'.repeat(10_000)}1${'}'.repeat(10_000)}`, field: 'content' },
    'nothing in it': { body: '{}', field: 'content' },
    'the field of another name': { body: '{"Content": "x"}', field: 'content' },
    'a number in it': { body: '{"content": 1}', field: 'content' },
    'null in it': { body: '{"content": null}', field: 'content' },
    'a truth in it': { body: '{"content": true}', field: 'content' },
    'an array in it': { body: '{"content": ["x"]}', field: 'content' },
    'an object in it': { body: '{"content": {"x": "x"}}', field: 'content' },
    'a further field': { body: '{"content": "x", "more": 1}', field: 'more' },
    'a field with an empty name': { body: '{"content": "x", "": 1}', field: undefined },
    'a prototype': { body: '{"content": "x", "__proto__": {"a": 1}}', field: '__proto__' },
    'a prototype with the content': { body: '{"__proto__": {"content": "x"}}', field: 'content' },
    'a constructor': { body: '{"content": "x", "constructor": {"prototype": {"a": 1}}}', field: 'constructor' },
    'a method': { body: '{"content": "x", "toString": "x"}', field: 'toString' },
  };

  it('[ERR-2] returns 400 VALIDATION_FAILED, names the field, and stores nothing', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    for (const [name, { body, field }] of Object.entries(wrong)) {
      const response = await api.post(path, { body, headers: json });
      const details = assertError(response, 400, 'VALIDATION_FAILED', name);
      assert.equal(details.field, field, name);
      if (field) assert.ok(response.json.error.message.includes(field), response.json.error.message);
    }
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
    assert.equal(({} as Record<string, unknown>).a, undefined);
  });

  it('[ERR-2] creates no room', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const before = await countRooms(server);
    for (const body of ['[]', '1', '{"PIN": "0427"}', '{"pin": "0427", "x": 1}', '{"__proto__": {}}']) {
      assertError(await api.post('/api/rooms', { body, headers: json }), 400, 'VALIDATION_FAILED', body);
    }
    assert.equal(await countRooms(server), before);
  });

  it('[ERR-2] is reported with a shortened field name', async (t) => {
    const { api } = await sharedServer(t);
    const response = await api.post('/api/rooms', { json: { ['x'.repeat(10_000)]: 1 } });
    assertError(response, 400, 'VALIDATION_FAILED');
    assert.ok(response.text.length < 1000);
  });

  it('[ERR-2] is always rejected, whatever it is', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const isRefused = fc.asyncProperty(fc.json({ maxDepth: 4 }), async (body) => {
      assertError(await api.post(path, { body, headers: json }), 400, 'VALIDATION_FAILED', body);
    });
    await fc.assert(isRefused, { numRuns: 150 });
  });

  it('[ERR-2] uses the last of two fields with the same name, as JSON parsers do', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const body = '{"content": 1, "content": "last"}';
    assert.equal((await api.post(path, { body, headers: json })).json.content, 'last');
  });
});

describe('a body of another content type', () => {
  const send = (server: TestServer, headers: Record<string, string>, body: string | Uint8Array = '{}') =>
    server.api.post('/api/rooms', { body, headers });

  it('[ERR-3] returns 415, whatever the type is', async (t) => {
    const server = await sharedServer(t);
    const before = await countRooms(server);
    const types = ['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
    const odd = [
      'application/jsonp',
      'application/json-patch+json',
      'application/ld+json',
      'application',
      '*/*',
      '',
      ';',
    ];
    const charsets = ['utf-16', 'iso-8859-1', 'utf-7', '"utf-16"'].map((name) => `application/json; charset=${name}`);
    for (const type of [...types, ...odd, ...charsets, 'json', 'text/html, application/json']) {
      assertError(await send(server, { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE', type);
    }
    assert.equal(await countRooms(server), before);
  });

  it('[ERR-3] returns 415 without a content type', async (t) => {
    const server = await sharedServer(t);
    const { port } = server;
    const before = await countRooms(server);
    const untyped = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', 'Content-Length: 2', 'Connection: close');
    assertError(await requestRaw(t, port, `${untyped}{}`), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const chunked = requestLines(
      'POST /api/rooms HTTP/1.1',
      'Host: x',
      'Transfer-Encoding: chunked',
      'Connection: close',
    );
    assertError(await requestRaw(t, port, `${chunked}2\r\n{}\r\n0\r\n\r\n`), 415, 'UNSUPPORTED_MEDIA_TYPE');
    assert.equal(await countRooms(server), before);
  });

  it('[ERR-3] does not include other spellings of the right type', async (t) => {
    const server = await sharedServer(t);
    const types = ['Application/JSON', 'application/json;charset=utf-8', 'application/json ; charset="UTF-8"'];
    for (const type of [...types, 'application/json; charset=utf8', 'application/json; x=y', 'application/json;']) {
      assert.equal((await send(server, { 'content-type': type })).status, 201, type);
    }
  });

  it('[ERR-3] returns 415 if it is compressed, whether or not it really is', async (t) => {
    const server = await sharedServer(t);
    const before = await countRooms(server);
    const compressed = { gzip: gzipSync('{}'), deflate: deflateSync('{}'), br: brotliCompressSync('{}') };
    for (const [encoding, body] of Object.entries(compressed)) {
      const response = await send(server, { ...json, 'content-encoding': encoding }, body);
      assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', encoding);
    }
    for (const encoding of ['gzip', 'GZIP', 'x', 'gzip, identity']) {
      const response = await send(server, { ...json, 'content-encoding': encoding });
      assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', encoding);
    }
    assert.equal((await send(server, { ...json, 'content-encoding': 'identity' })).status, 201);
    assert.equal(await countRooms(server), before + 1);
  });
});

describe('a missing body', () => {
  it('[API-1] [ERR-2] is accepted in every form', async (t) => {
    const { port } = await sharedServer(t);
    const ways: string[][] = [
      [],
      ['Content-Length: 0'],
      ['Content-Type: application/json'],
      ['Content-Type: text/plain', 'Content-Length: 0'],
      ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked'],
    ];
    for (const headers of ways) {
      const end = headers.includes('Transfer-Encoding: chunked') ? '0\r\n\r\n' : '';
      const head = requestLines('POST /api/rooms HTTP/1.1', 'Host: x', 'Connection: close', ...headers);
      assert.equal((await requestRaw(t, port, head + end)).status, 201, headers.join());
    }
  });

  it('[ERR-2] lacks the required fields', async (t) => {
    const { api } = await sharedServer(t);
    const response = await api.post(`/api/rooms/${await api.room()}/content`);
    assert.equal(assertError(response, 400, 'VALIDATION_FAILED').field, 'content');
  });
});

describe('a small body', () => {
  it('[API-4] [ERR-2] is read however it arrives, and its connection stays open', async (t) => {
    const { api, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '100000' });
    const path = `/api/rooms/${await api.room()}/content`;
    const socket = await openRawSocket(t, port);
    const ways: Record<string, (request: string) => string[]> = {
      'in one packet': (request) => [request],
      'after its head': (request) => request.split(/(?<=\r\n\r\n)/),
      'in halves': (request) => [request.slice(0, -9), request.slice(-9)],
      'byte by byte': (request) => [...request],
    };
    const responseTo = async (body: string, split: (request: string) => string[]) => {
      const request = requestHead('POST', path, { ...json, 'Content-Length': body.length }) + body;
      for (const part of split(request)) {
        await socket.send(part);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return socket.response();
    };
    for (const [name, split] of Object.entries(ways)) {
      for (let n = 0; n < 3; n++) {
        const refused = fromRawResponse(await responseTo('{"content": }', split));
        assertError(refused, 400, 'INVALID_JSON', name);
        assert.equal(refused.headers.get('connection'), 'keep-alive', name);
        assert.equal((await responseTo(`{"content":"${name} ${n}"}`, split)).status, 200, name);
        assert.equal((await api.get(path)).json.content, `${name} ${n}`);
      }
    }
    assert.equal(socket.isClosed(), false);
  });

  it('[API-4] is whole if it arrives in parts behind a request that is not answered yet', async (t) => {
    const { api, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '100000' });
    const path = `/api/rooms/${await api.room()}/content`;
    const post = (body: string) => requestHead('POST', path, { ...json, 'Content-Length': body.length }) + body;
    const socket = await openRawSocket(t, port);
    for (let n = 0; n < 50; n++) {
      const behind = post(`{"content":"second ${n}"}`);
      // Both parts arrive while the server answers the first request.
      await socket.send(post(`{"content":"first ${n}"}`) + requestHead('GET', path) + behind.slice(0, -12));
      await new Promise((resolve) => setImmediate(resolve));
      await socket.send(behind.slice(-12));
      for (const content of [`first ${n}`, `first ${n}`, `second ${n}`]) {
        const { status, text } = await socket.response();
        assert.equal(status, 200, text);
        assert.equal(JSON.parse(text).content, content);
      }
    }
  });

  it('[API-4] [SAFE-2] keeps the connection if it was sent without waiting for 100 Continue', async (t) => {
    const { api, port } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const body = '{"content":"x"}';
    const headers = { ...json, 'Content-Length': body.length, Expect: '100-continue' };
    const socket = await openRawSocket(t, port);
    await socket.send(requestHead('POST', path, headers) + body + requestHead('GET', path));
    assert.equal((await socket.response()).status, 100);
    assert.equal((await socket.response()).status, 200);
    assert.equal(JSON.parse((await socket.response()).text).content, 'x');
  });

  it('[ERR-2] is refused if the connection ends before it', async (t) => {
    const { api, port } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    const socket = await openRawSocket(t, port, { allowHalfOpen: true });
    await socket.send(`${requestHead('POST', path, { ...json, 'Content-Length': 30 })}{"content":"`);
    socket.endSending();
    await socket.closed();
    assert.equal((await api.get(path)).headers.get('etag'), '"0"');
  });
});

describe('a body that is too large', () => {
  it('[ERR-1] [TEXT-1] returns 413 as soon as its size is known', async (t) => {
    const server = await startTestServer(t);
    const { api, port } = server;
    const large: [string, Record<string, string | number>, string][] = [
      [`/api/rooms/${await api.room()}/content`, { 'Content-Length': 99_999_999 }, ''],
      ['/api/rooms', { 'Content-Length': 20_000 }, ''],
      ['/api/rooms', { 'Transfer-Encoding': 'chunked' }, `5000\r\n${' '.repeat(0x5000)}\r\n`],
    ];
    for (const [path, headers, begun] of large) {
      const socket = await openRawSocket(t, port);
      await socket.send(requestHead('POST', path, { 'Content-Type': 'application/json', ...headers }) + begun);
      assertError(fromRawResponse(await socket.response()), 413, 'CONTENT_TOO_LARGE');
      socket.destroy();
    }
    assert.equal(await countRooms(server), 1);
  });
});

function bytes(...parts: (string | number)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));
}
