/** Requests that a page of another site can make its visitor's browser send, marked as browsers do. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { requestRaw } from '../support/raw-http.ts';
import { requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const elsewhere = 'https://elsewhere.example';

/** The headers that a browser adds; `site` is where the page is, as seen from the server. */
const marks = (mode: string, dest: string, site = 'cross-site') => ({
  'Sec-Fetch-Site': site,
  'Sec-Fetch-Mode': mode,
  'Sec-Fetch-Dest': dest,
});

const image = marks('no-cors', 'image');
const navigation = marks('navigate', 'document');
const form = { ...navigation, Origin: elsewhere };
const cors = { ...marks('cors', 'empty'), Origin: elsewhere };
/** Over plain HTTP browsers add no more than this. */
const plainCors = { Origin: elsewhere };

/** Requests that a page can send without CORS. */
const withoutCors: Record<string, { method: string; headers: Record<string, string>; body?: string }> = {
  'an image': { method: 'GET', headers: image },
  'a script': { method: 'GET', headers: marks('no-cors', 'script') },
  'a video': { method: 'GET', headers: { ...marks('no-cors', 'video'), Range: 'bytes=0-' } },
  'a frame': { method: 'GET', headers: marks('navigate', 'iframe') },
  'a window': { method: 'GET', headers: { ...navigation, 'Sec-Fetch-User': '?1' } },
  'a beacon': { method: 'POST', headers: { ...marks('no-cors', 'empty'), Origin: elsewhere }, body: '{}' },
  'a form': { method: 'POST', headers: form, body: '{}' },
};

describe('a request from another site without CORS', () => {
  it('[LINK-4] is rejected and costs its visitor nothing, however it is sent', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const paths = [`/api/rooms/${room}`, '/api/rooms/ZZZZZZZZ', '/api/health', '/api/nothing'];
    for (const [kind, { method, headers, body = '' }] of Object.entries(withoutCors)) {
      for (const path of paths) {
        const response = await send(t, server, method, path, headers, body);
        assert.equal(assertError(response, 400, 'VALIDATION_FAILED', `${kind}: ${path}`).field, 'Sec-Fetch-Site');
        assert.equal(response.headers.get('x-ratelimit-remaining'), '99', 'only making the room is counted');
      }
    }
    const own = await server.api.get(`/api/rooms/${room}`);
    assert.equal(own.headers.get('x-ratelimit-remaining'), '98', 'making the room and this are counted');
  });

  it('[LINK-4] does not count as a miss or a PIN attempt of its visitor', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room({ pin: '0427' });
    for (let n = 0; n < 25; n++) await send(t, server, 'GET', `/api/rooms/ZZZZZZ${n + 10}`, image);
    for (let n = 0; n < 6; n++) await send(t, server, 'GET', `/api/rooms/${room}?pin=9999`, image);
    assert.equal((await server.api.get(`/api/rooms/${room}`, { pin: '0427' })).status, 200);
    assert.equal((await server.api.get(`/api/rooms/${room}`, { pin: '9999' })).json.error.details.triesLeft, 4);
  });

  it('[LINK-4] cannot upload a file with a form', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const path = `/api/rooms/${room}/upload`;
    assertError(await sendForm(t, server, path, form), 400, 'VALIDATION_FAILED');
    assertError(await sendForm(t, server, path, { ...form, Origin: 'null' }), 400, 'VALIDATION_FAILED');
    assert.deepEqual((await server.api.get(`/api/rooms/${room}/files`)).json.files, []);
  });

  it('[LINK-4] [TEXT-12] cannot write a text with a form or a beacon', async (t) => {
    const server = await sharedServer(t);
    const path = `/api/rooms/${await server.api.room()}/content`;
    const beacon = { ...marks('no-cors', 'empty'), Origin: elsewhere };
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      // The last one is a form over plain HTTP.
      for (const sent of [form, beacon, { ...form, Origin: 'null' }, plainCors]) {
        const response = await send(t, server, 'POST', path, { ...sent, 'Content-Type': type }, 'content=x');
        assert.equal(assertError(response, 400, 'VALIDATION_FAILED', type).field, 'Sec-Fetch-Site');
      }
    }
    assert.equal((await server.api.get(path)).json.content, '');
  });

  it('[LINK-4] is accepted from an origin that the operator allows', async (t) => {
    const server = await startTestServer(t, { POPROOM_ALLOWED_ORIGINS: elsewhere });
    const room = await server.api.room();
    assert.equal((await sendForm(t, server, `/api/rooms/${room}/upload`, form)).status, 201);
  });

  it('[LINK-4] is accepted from the same site, from the address bar and from programs', async (t) => {
    const server = await sharedServer(t);
    const room = `/api/rooms/${await server.api.room()}`;
    for (const site of ['same-origin', 'same-site', 'none']) {
      assert.equal((await send(t, server, 'GET', room, marks('navigate', 'document', site))).status, 200, site);
    }
    assert.equal((await send(t, server, 'GET', room, {})).status, 200);
  });

  it('[LINK-4] can open pages and files: links work, and pictures can be embedded', async (t) => {
    const server = await sharedServer(t);
    const room = await server.api.room();
    const { fileUrl } = (await server.api.upload(room, 'a.txt', 'abc')).json;
    const file = new URL(fileUrl).pathname;
    for (const path of ['/', `/r/${room}`, '/docs', file]) {
      assert.equal((await send(t, server, 'GET', path, navigation)).status, 200, path);
    }
    for (const headers of [image, marks('no-cors', 'video')]) {
      assert.equal((await send(t, server, 'GET', file, headers)).text, 'abc');
    }
  });

  it('[LINK-4] [LIVE-13] does not count as a WebSocket either, marked or not', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    const handshake = {
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    for (const headers of [plainCors, { ...plainCors, ...marks('websocket', 'websocket') }]) {
      const path = `/api/rooms/${room}/live`;
      const response = await requestRaw(t, server.port, requestHead('GET', path, { ...handshake, ...headers }));
      assert.equal(assertError(response, 403, 'ORIGIN_NOT_ALLOWED').field, 'Origin');
    }
    const { headers } = await server.api.get(`/api/rooms/${room}`);
    assert.equal(headers.get('x-ratelimit-remaining'), '98');
  });

  it('[LIVE-13] learns that its origin is refused by a plain request for the channel', async (t) => {
    const origin = 'https://friend.example';
    const server = await sharedServer(t, { POPROOM_ALLOWED_ORIGINS: origin });
    const path = `/api/rooms/${await server.api.room()}/live`;
    const refused = await send(t, server, 'GET', path, { ...plainCors, 'Sec-Fetch-Mode': 'cors' });
    assert.equal(assertError(refused, 403, 'ORIGIN_NOT_ALLOWED').field, 'Origin');
    assert.equal(refused.headers.get('access-control-allow-origin'), '*');
    assertError(await send(t, server, 'GET', path, { Origin: origin }), 426, 'UPGRADE_REQUIRED');
  });
});

describe('CORS requests from other sites', () => {
  for (const [how, headers] of Object.entries({ marked: cors, 'with an Origin only': plainCors })) {
    it(`[LINK-6] [RATE-1] have the limit of every client: ${how}`, async (t) => {
      const server = await startTestServer(t);
      const path = '/api/health';
      const asPage = () => send(t, server, 'GET', path, headers);
      const first = await asPage();
      assert.deepEqual(
        ['limit', 'remaining'].map((name) => first.headers.get(`x-ratelimit-${name}`)),
        ['100', '99'],
      );
      for (let n = 0; n < 49; n++) await Promise.all([asPage(), server.api.get(path)]);
      assert.equal((await asPage()).status, 200);
      const details = assertError(await asPage(), 429, 'RATE_LIMITED');
      assert.equal(details.limit, 100);
      assertError(await server.api.get(path), 429, 'RATE_LIMITED');
    });

    it(`[LINK-6] use up at most half of their visitor's misses: ${how}`, async (t) => {
      const server = await startTestServer(t);
      const room = `/api/rooms/${await server.api.room()}`;
      const lookUp = (n: number) => send(t, server, 'GET', `/api/rooms/ZZZZZZ${n + 10}`, headers);
      const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => lookUp(n)));
      assert.equal(responses.filter(({ code }) => code === 'ROOM_NOT_FOUND').length, 10);
      assert.equal(assertError(await lookUp(30), 429, 'RATE_LIMITED').reason, 'misses');
      for (let n = 0; n < 10; n++) {
        assert.equal((await server.api.get(room)).status, 200);
        assertError(await server.api.get(`/api/rooms/YYYYYY${n + 10}`), 404, 'ROOM_NOT_FOUND');
      }
      assertError(await server.api.get(room), 429, 'RATE_LIMITED');
    });
  }

  it('[LINK-6] do not lock their visitor out of a room with wrong PINs', async (t) => {
    const server = await sharedServer(t);
    const room = `/api/rooms/${await server.api.room({ pin: '0427' })}`;
    const guess = (pin: string) => send(t, server, 'GET', `${room}?pin=${pin}`, cors);
    for (let n = 0; n < 5; n++) assertError(await guess('9999'), 403, 'PIN_INCORRECT');
    assertError(await guess('0427'), 429, 'PIN_LOCKED');
    assert.equal((await server.api.get(room, { pin: '0427' })).status, 200);
  });

  it('[LINK-6] have all misses of their visitor if they come from the server itself or an allowed origin', async (t) => {
    const server = await startTestServer(t, { POPROOM_ALLOWED_ORIGINS: elsewhere });
    const own = { Origin: 'http://localhost', Host: 'localhost' };
    const sources = [cors, plainCors, own, { ...own, ...marks('cors', 'empty', 'same-origin') }];
    for (let n = 0; n < 20; n++) {
      const response = await send(t, server, 'GET', `/api/rooms/ZZZZZZ${n + 10}`, sources[n % 4] ?? {});
      assertError(response, 404, 'ROOM_NOT_FOUND');
    }
  });
});

describe('a page', () => {
  it('[LINK-5] carries no CORS headers, and neither do its files, the metrics and their errors', async (t) => {
    const { api } = await sharedServer(t);
    for (const path of ['/', '/r/7KQ2MX', '/share', '/assets/icon.svg', '/assets/none', '/docs', '/metrics']) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const { headers } = await api.call(method, path, { headers: { origin: elsewhere } });
        assert.deepEqual(
          [...headers.keys()].filter((name) => name.startsWith('access-control-')),
          [],
          `${method} ${path}`,
        );
      }
    }
    for (const path of ['/', '/r/7KQ2MX', '/share']) {
      assert.equal((await api.get(path)).headers.get('cross-origin-resource-policy'), 'same-origin', path);
    }
  });

  it('[LINK-5] reveals the LAN addresses of the server only to a browser on the same machine', async (t) => {
    // The page shows the public address like the one in the local network.
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: 'http://192.168.1.7:8080' });
    const address = async (headers: Record<string, string>, version = '1.1') => {
      const head = requestHead('GET', '/', { Connection: 'close', ...headers }).replace('HTTP/1.1', `HTTP/${version}`);
      const { text } = await requestRaw(t, server.port, head);
      return /<meta name="poproom-address" content="([^"]*)">/.exec(text)?.[1];
    };
    assert.equal(await address({}), 'http://192.168.1.7:8080');
    assert.equal(await address({ Host: 'rebound.example' }), '');
    assert.equal(await address({ 'X-Forwarded-For': '203.0.113.7' }), '');
    assert.equal(await address({ 'X-Real-IP': '203.0.113.7' }), '');
    assert.equal(await address({ Forwarded: 'for=203.0.113.7' }), '');
    assert.equal(await address({ Via: '1.1 proxy' }), '');
    assert.equal(await address({}, '1.0'), '', 'as nginx forwards by default');
  });
});

/** With headers as they are given; the body is JSON. */
function send(
  t: TestContext,
  { port }: TestServer,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<ApiResponse> {
  const own = body === '' ? {} : { 'Content-Type': 'text/plain', 'Content-Length': body.length };
  return requestRaw(t, port, requestHead(method, path, { Connection: 'close', ...own, ...headers }) + body);
}

function sendForm(t: TestContext, { port }: TestServer, path: string, headers: Record<string, string>) {
  const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain';
  const body = `--x\r\n${part}\r\n\r\nabc\r\n--x--\r\n`;
  const own = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': body.length };
  return requestRaw(t, port, requestHead('POST', path, { Connection: 'close', ...own, ...headers }) + body);
}
