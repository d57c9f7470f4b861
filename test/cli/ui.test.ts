/** `poproom ui`: who may use it, and what a server can send through it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { lanAddress } from '../../src/cli/server-context.ts';
import { createAccess, isOfOtherUser } from '../../src/local-page/server.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { writeCertificate } from '../support/certificate.ts';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { type LocalPage, startLocalPage } from '../support/local-page.ts';
import { type MaliciousServer, startMaliciousServer } from '../support/malicious-server.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** Requests as a browser sends them, with the cookie. */
interface Browser {
  /** The path of the page. */
  base: string;
  cookie: string;
  ask(path: string, ask?: Ask): Promise<Answer>;
}

async function send(origin: string, path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
  const options: RequestOptions = { method, headers, agent: false };
  const outgoing = request(new URL(origin), { ...options, path });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await Array.fromAsync(incoming)).toString();
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text };
}

async function openAsBrowser({ link, origin }: LocalPage): Promise<Browser> {
  const { status, headers } = await send(origin, new URL(link).pathname + new URL(link).search);
  assert.equal(status, 200);
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? assert.fail('no cookie');
  const base = /^0; url=(\/[\w-]+)\//.exec(String(headers.refresh))?.[1] ?? assert.fail('no path');
  return {
    base,
    cookie,
    ask(path, { method = 'GET', headers: own = {}, body } = {}) {
      const origins = method === 'GET' || method === 'HEAD' ? {} : { origin };
      const all = { cookie, 'sec-fetch-site': 'same-origin', ...origins, ...own };
      return send(origin, base + path, { method, headers: all, ...(body !== undefined && { body }) });
    },
  };
}

const startServer = (t: TestContext, env: Record<string, string> = {}) =>
  startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0', ...env });

describe('poproom ui', () => {
  it('[UI-1] serves the page of this installation, and forwards requests to the chosen server', async (t) => {
    const server = await startServer(t);
    const browser = await openAsBrowser(await startLocalPage(t, server.url));
    const page = await browser.ask('/');
    const script = /src="([^"]+\.js)"/.exec(page.text)?.[1] ?? assert.fail(page.text);
    const { text } = await browser.ask(script.slice(browser.base.length));
    assert.equal(
      text,
      await readFile(new URL(`../../dist/web${script.slice(browser.base.length)}`, import.meta.url), 'utf8'),
    );
    const created = await browser.ask('/api/rooms', { method: 'POST' });
    const { roomId, link } = JSON.parse(created.text);
    assert.deepEqual([created.status, link], [201, `${server.url}/r/${roomId}`]);
    assert.equal((await server.api.get(`/api/rooms/${roomId}`)).status, 200);
  });

  it('[slow] [UI-1] shows the limits of the server, and works with one under a path', async (t) => {
    const server = await startServer(t, {
      POPROOM_PUBLIC_URL: 'http://127.0.0.1/poproom',
      POPROOM_FILE_MAX: '123456',
    });
    const browser = await openAsBrowser(await startLocalPage(t, `${server.url}/poproom/`));
    assert.match((await browser.ask('/')).text, /&quot;fileMax&quot;:123456/);
    const { roomId } = JSON.parse((await browser.ask('/api/rooms', { method: 'POST' })).text);
    assert.equal((await browser.ask(`/api/rooms/${roomId}`)).status, 200);
  });

  it('[UI-4] has the address of this machine in links to a server on it', async (t) => {
    const { port } = await startServer(t, { POPROOM_HOST: '0.0.0.0' });
    const env = { POPROOM_LAN_LINK: 'on' };
    const browser = await openAsBrowser(await startLocalPage(t, `http://localhost:${port}`, { env }));
    const { text } = await browser.ask('/');
    const address = lanAddress(networkInterfaces()) ?? 'localhost';
    assert.ok(text.includes(`<meta name="poproom-address" content="http://${address}:${port}">`), text);
    assert.ok(text.includes(`<meta name="poproom-server" content="http://localhost:${port}">`), text);
  });

  it('[slow] [UI-1] sends the API key of the settings, which the page does not see', async (t) => {
    const server = await startServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const { key } = JSON.parse(
      (await (await createCli(t)).run(['keys', 'create', 'mine', '--json'], { env: { ...server.settings } })).stdout,
    );
    const local = await startLocalPage(t, server.url, { env: { POPROOM_API_KEY: key } });
    const browser = await openAsBrowser(local);
    assert.equal((await browser.ask('/api/rooms', { method: 'POST' })).status, 201);
    const page = await browser.ask('/');
    assert.ok(!JSON.stringify(page).includes(key));
  });

  it('[UI-2] is for the browser that opens the link first', async (t) => {
    const { url } = await startServer(t);
    const local = await startLocalPage(t, url);
    const { origin, link } = local;
    const path = link.slice(origin.length);
    for (const wrong of ['/', '/open', '/open?token=', `/open?token=${'A'.repeat(43)}`, '/r/7KQ2MX', '/api/limits'])
      assert.equal((await send(origin, wrong)).status, 403, wrong);
    assert.equal((await send(origin, path, { method: 'HEAD' })).status, 403, 'HEAD does not use up the link');
    const browser = await openAsBrowser(local);
    for (let i = 0; i < 3; i++) assert.equal((await browser.ask('/')).status, 200, 'a reload works');
    const again = await send(origin, path);
    assert.deepEqual([again.status, again.headers['set-cookie'], again.headers.refresh], [403, undefined, undefined]);
    assert.match(again.text, /works once/);
    for (const cookie of ['', `${browser.cookie}x`, browser.cookie.slice(0, -1)])
      assert.equal((await browser.ask('/', { headers: { cookie } })).status, 403);
    assert.equal((await send(origin, '/', { headers: { cookie: browser.cookie } })).status, 403, 'without the path');
  });

  it('[slow] [UI-2] has a cookie that no other port and no script receives', async (t) => {
    const { url } = await startServer(t);
    const { link, origin } = await startLocalPage(t, url);
    const { headers } = await send(origin, link.slice(origin.length));
    const { port } = new URL(origin);
    assert.match(
      headers['set-cookie']?.[0] ?? '',
      new RegExp(`^poproom-ui-${port}=[\\w-]{43}; Path=/[\\w-]{22}/; HttpOnly; SameSite=Strict$`),
    );
    assert.deepEqual(
      [headers['cache-control'], headers['referrer-policy'], headers['access-control-allow-origin']],
      ['no-store', 'no-referrer', undefined],
    );
  });

  it('[UI-2] refuses other host names, other origins and other sites', async (t) => {
    const { url } = await startServer(t);
    const local = await startLocalPage(t, url);
    const { port } = new URL(local.origin);
    const browser = await openAsBrowser(local);
    const refused: [name: string, ask: Ask][] = [
      ['DNS rebinding', { headers: { host: `evil.example:${port}` } }],
      ['localhost', { headers: { host: `localhost:${port}` } }],
      ['no port', { headers: { host: '127.0.0.1' } }],
      ['another origin', { headers: { origin: 'https://evil.example' } }],
      ['a sandboxed page', { headers: { origin: 'null' } }],
      ['another port', { headers: { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' } }],
      ['an image of another port', { headers: { 'sec-fetch-site': 'same-site' } }],
      ['an image of another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ];
    for (const [name, ask] of refused) {
      assert.equal((await browser.ask('/', ask)).status, 403, name);
      assert.equal((await browser.ask('/api/limits', ask)).status, 403, name);
    }
    const headers = { cookie: browser.cookie };
    const post = { method: 'POST', headers };
    assert.equal((await send(local.origin, `${browser.base}/api/rooms`, post)).status, 403, 'a form without an origin');
    const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };
    const { status, headers: answered } = await browser.ask('/api/rooms', preflight);
    assert.deepEqual([status, answered['access-control-allow-origin']], [404, undefined]);
  });

  it('[UI-2] accepts the host without a port on port 80', () => {
    const { isOwnHost, openingLink } = createAccess(80, '/');
    const withHost = (host: string) => ({ headers: { host } }) as IncomingMessage;
    assert.match(openingLink, /^http:\/\/127\.0\.0\.1\/open\?token=/);
    assert.deepEqual([isOwnHost(withHost('127.0.0.1')), isOwnHost(withHost('127.0.0.1:81'))], [true, false]);
  });

  it('[UI-2] opens live channels only for its page', async (t) => {
    const server = await startServer(t);
    const local = await startLocalPage(t, server.url);
    const { base, cookie } = await openAsBrowser(local);
    const code = await server.api.room();
    const live = `${local.origin.replace('http', 'ws')}${base}/api/rooms/${code}/live`;
    const statusOf = async (headers: Record<string, string>, url = live) => {
      const socket = new WebSocket(url, 'poproom', { headers });
      t.after(() => socket.terminate());
      return Promise.race([
        once(socket, 'open').then(() => 101),
        once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode),
        once(socket, 'error').then(() => 0),
      ]);
    };
    const { origin } = local;
    assert.equal(await statusOf({ cookie, origin }), 101);
    for (const headers of [
      { cookie },
      { origin },
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
      { cookie, origin, host: 'evil.example' },
    ])
      assert.equal(await statusOf(headers as Record<string, string>), 403, JSON.stringify(headers));
    assert.equal(await statusOf({ cookie, origin }, live.replace(/\/live$/, '/events')), 403);
  });

  it('[UI-2] finds connections of other users in the table of the system', () => {
    const socket = { remotePort: 0x1f90, localPort: 0xa455 } as Parameters<typeof isOfOtherUser>[0];
    const row = (uid: number) =>
      `   1: 0100007F:1F90 0100007F:A455 01 00000000:00000000 00:00000000 00000000 ${uid}        0 1`;
    const tables = [row(0), row(process.getuid?.() ?? 0), row(54_321), row(54_321).replace('1F90', '1F91'), ''];
    assert.deepEqual(
      tables.map((table) => isOfOtherUser(socket, table)),
      [false, false, true, false, false],
    );
  });

  const asRoot = process.getuid?.() === 0 && process.platform === 'linux';
  it('[slow] [UI-2] does not answer programs of other users', { skip: !asRoot && 'needs root' }, async (t) => {
    const { url } = await startServer(t);
    const { origin } = await startLocalPage(t, url);
    const program = `fetch('${origin}').then(({ status }) => console.log(status), () => console.log('refused'))`;
    const answerFor = async (uid: number) => {
      const child = spawn('/proc/self/exe', ['-e', program], {
        uid,
        cwd: '/',
        env: {},
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return Buffer.concat(await Array.fromAsync(child.stdout as NonNullable<typeof child.stdout>))
        .toString()
        .trim();
    };
    assert.deepEqual([await answerFor(0), await answerFor(54_321)], ['403', 'refused']);
  });
});

describe('a server behind poproom ui', () => {
  it('[slow] [UI-3] cannot send anything that runs on the origin of the page', async (t) => {
    const server = await startServer(t);
    const malicious = await startMaliciousServer(t, () => server.port);
    const local = await startLocalPage(t, malicious.url);
    const browser = await openAsBrowser(local);
    const paths = forwardedPaths();
    for (const type of ['text/html', 'text/javascript', 'image/svg+xml', 'application/xhtml+xml'])
      for (const status of [200, 404]) {
        attackWith(malicious, status, type);
        await Promise.all(
          paths.map(async ({ method, path }) => {
            const { headers, text } = await browser.ask(path, { method, headers: { accept: 'text/html' } });
            assertInert(`${method} ${path} ${type} ${status}`, headers, text);
          }),
        );
      }
  });

  it('[slow] [UI-3] cannot set cookies, headers of the page, or redirect', async (t) => {
    const server = await startServer(t);
    const malicious = await startMaliciousServer(t, () => server.port);
    const browser = await openAsBrowser(await startLocalPage(t, malicious.url));
    for (const status of [300, 301, 302, 303, 307, 308, 205, 299]) {
      malicious.answer = () => ({ status, headers: { ...hostileHeaders }, body: Buffer.from('<script>') });
      await Promise.all(
        forwardedPaths().map(async ({ method, path }) => {
          const { status: answered, headers } = await browser.ask(path, { method });
          assert.deepEqual([answered, headers.location], [502, undefined], `${method} ${path} ${status}`);
        }),
      );
    }
    malicious.answer = () => ({ status: 201, headers: { ...hostileHeaders }, body: Buffer.from('{}') });
    const { headers } = await browser.ask('/api/rooms', { method: 'POST' });
    assert.equal(headers.location, hostileHeaders.location, 'of an upload, which the page reads');
  });

  it('[slow] [UI-3] is asked only for what a page uses, by the path that was checked', async (t) => {
    const server = await startServer(t, { POPROOM_ADMIN_TOKEN: 'a-token-of-enough-characters' });
    const malicious = await startMaliciousServer(t, () => server.port);
    const local = await startLocalPage(t, malicious.url);
    const browser = await openAsBrowser(local);
    malicious.sent.length = 0;
    const notForwarded = [
      '/docs',
      '/admin',
      '/metrics',
      '/readyz',
      '/api/admin/numbers',
      '/api/openapi.json',
      '/api/rooms/7KQ2MX/live',
      '/api/rooms/7KQ2MX/events',
      '//evil.example/',
      '//evil.example/api/limits',
      '/api//limits',
      '/api/rooms/../admin/numbers',
      '/api/rooms/%2e%2e/content',
      '/api/rooms/..%2fadmin/content',
      '/api/rooms/a%2Fb/content',
      '/api/rooms/a%5Cb/content',
      '/api/rooms/%00/content',
      '/files/0123/..%2f..%2fadmin',
      '/files/../admin',
      '/.%2e/admin',
      '/assets/../../package.json',
      '/assets/service-worker.js',
      '/assets/manifest.webmanifest',
      '/api/rooms/7KQ2MX/content/',
      '/http://evil.example/',
    ];
    for (const path of notForwarded) {
      const { status } = await browser.ask(path);
      assert.equal(status, 404, path);
    }
    assert.deepEqual(malicious.sent, []);
    await browser.ask('/api/rooms/%37kq2mx/content?details=true');
    assert.match(malicious.sent[0] ?? '', /^GET \/api\/rooms\/7kq2mx\/content\?details=true /);
  });

  it('[UI-3] gets no smuggled request, and no header that is about the browser', async (t) => {
    const server = await startServer(t);
    const malicious = await startMaliciousServer(t, () => server.port);
    const local = await startLocalPage(t, malicious.url);
    const { base, cookie, ask } = await openAsBrowser(local);
    const { host, port } = new URL(local.origin);
    malicious.sent.length = 0;
    const common = `Host: ${host}\r\nCookie: ${cookie}\r\nOrigin: ${local.origin}\r\nConnection: close\r\n`;
    const raw = (bytes: string) => sendRaw(t, Number(port), bytes);
    const smuggled = [
      `GET http://${host}${base}/api/limits HTTP/1.1\r\n${common}\r\n`,
      `GET http://evil.example/ HTTP/1.1\r\n${common}\r\n`,
      `GET ${base}/api/limits HTTP/1.1\r\nHost: evil.example\r\n${common}\r\n`,
      `POST ${base}/api/rooms HTTP/1.1\r\n${common}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST ${base}/api/rooms HTTP/1.1\r\n${common}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      `POST ${base}/api/rooms HTTP/1.1\r\n${common}Content-Length: 1, 2\r\n\r\n{}`,
    ];
    for (const bytes of smuggled)
      for (const { status } of await raw(bytes)) assert.ok(status === 400 || status === 403, bytes);
    await raw(`CONNECT evil.example:80 HTTP/1.1\r\n${common}\r\n`);
    assert.deepEqual(malicious.sent, []);
    const browserHeaders = {
      'user-agent': 'Mozilla',
      'accept-language': 'de',
      referer: `${local.origin}${base}/`,
      authorization: 'Basic eA==',
      'x-api-key': 'x',
      'x-forwarded-for': '192.0.2.1',
      'x-http-method-override': 'DELETE',
      te: 'trailers',
    };
    await ask('/api/rooms', { method: 'POST', headers: { ...browserHeaders, 'x-room-pin': '1204' } });
    const sent = malicious.sent[0] ?? '';
    assert.match(sent, /"x-room-pin":"1204"/);
    for (const name of [...Object.keys(browserHeaders), 'cookie', 'origin', 'sec-fetch-site'])
      assert.ok(!sent.includes(`"${name}"`), `${name} in ${sent}`);
    assert.ok(!sent.includes(host), sent);
  });

  it('[slow] [UI-3] cannot add a response of its own to one that it sends', async (t) => {
    const extra = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<script>';
    const heads = [
      'Content-Length: 2\r\n',
      'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
      'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n',
      'Content-Length: 2\r\nContent-Length: 400\r\n',
    ];
    for (const head of heads) {
      const url = await listenRaw(t, (isFirst) =>
        isFirst
          ? limitsResponse
          : `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}\r\n${head.includes('chunked') ? `${(2 + extra.length).toString(16)}\r\n{}${extra}\r\n0\r\n\r\n` : `{}${extra}`}`,
      );
      const local = await startLocalPage(t, url);
      const { base, cookie } = await openAsBrowser(local);
      const { host, port } = new URL(local.origin);
      const get = (connection: string) =>
        `GET ${base}/livez HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: ${connection}\r\n\r\n`;
      const answers = await sendRaw(t, Number(port), get('keep-alive') + get('close')).catch(() => []);
      for (const { headers } of answers) assert.doesNotMatch(headers.get('content-type') ?? '', /html/, head);
    }
  });

  it('[UI-3] cannot speak another protocol than WebSocket on a live channel', async (t) => {
    const url = await listenRaw(t, (isFirst) =>
      isFirst
        ? limitsResponse
        : 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nSet-Cookie: a=b\r\n\r\n',
    );
    const local = await startLocalPage(t, url);
    const { base, cookie } = await openAsBrowser(local);
    const { host, port, origin } = new URL(local.origin);
    const handshake = `GET ${base}/api/rooms/7KQ2MX/live HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nOrigin: ${origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`;
    const [answer] = await sendRaw(t, Number(port), handshake);
    assert.deepEqual([answer?.status, answer?.headers.get('set-cookie')], [502, null]);
  });

  it('[slow] [UI-3] sends files that a browser shows with their own type, and all others to be saved', async (t) => {
    const server = await startServer(t);
    const { ask } = await openAsBrowser(await startLocalPage(t, server.url));
    const code = await server.api.room();
    const upload = async (name: string, type: string, body: string) => {
      const path = `/api/rooms/${code}/upload?fileName=${encodeURIComponent(name)}`;
      const { text } = await ask(path, { method: 'POST', headers: { 'content-type': type }, body });
      return new URL(JSON.parse(text).fileUrl).pathname;
    };
    const [plain, svg] = [
      await upload('a b.txt', 'text/plain', 'hello'),
      await upload('x.svg', 'image/svg+xml', '<svg/>'),
    ];
    const shown = await ask(plain);
    assert.deepEqual([shown.status, shown.text], [200, 'hello']);
    assert.equal(shown.headers['content-type'], 'text/plain; charset=utf-8');
    assert.match(shown.headers['content-disposition'] ?? '', /^inline; filename="a b\.txt"/);
    assert.match((await ask(`${plain}?download`)).headers['content-disposition'] ?? '', /^attachment/);
    const part = await ask(plain, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, 'ell', 'bytes 1-3/5']);
    const fresh = await ask(plain, { headers: { 'if-none-match': shown.headers.etag ?? '' } });
    assert.equal(fresh.status, 304);
    const saved = await ask(svg);
    assertInert('svg', saved.headers, saved.text);
    const missing = await ask(`/files/${'0'.repeat(32)}/x`, { headers: { accept: 'text/html' } });
    assert.deepEqual([missing.status, missing.headers['content-type']], [404, 'text/html; charset=utf-8']);
    assert.match(missing.text, /<div id="app">/, 'the error page of this installation');
    assert.equal(JSON.parse((await ask(`/files/${'0'.repeat(32)}/x`)).text).error.code, 'FILE_NOT_FOUND');
  });
});

describe('poproom ui, values of the page', () => {
  it('[slow] [UI-5] are kept for each server, in a file of the state folder that only its owner can read', async (t) => {
    const server = await startServer(t);
    const cli = await createCli(t);
    const first = await startLocalPage(t, server.url, { cli });
    const one = await openAsBrowser(first);
    const id = 'tab-number-1';
    const patch = (browser: Browser, body: unknown) =>
      browser.ask('/stored-values', { method: 'PATCH', body: JSON.stringify(body) });
    const open = async (browser: Browser, body: object) =>
      JSON.parse((await browser.ask('/stored-values', { method: 'POST', body: JSON.stringify(body) })).text);
    assert.deepEqual(await open(one, { id, from: null }), { kept: {}, tab: {} });
    await patch(one, { id, number: 1, kept: { a: '1', b: '2' }, tab: { pin: '3' } });
    await patch(one, { id, number: 2, kept: { b: null }, tab: {} });
    assert.deepEqual(await open(one, { id: 'tab-number-2', from: `${id}.2` }), { kept: { a: '1' }, tab: { pin: '3' } });
    first.command.signal('SIGINT');
    assert.equal((await first.command.result).code, 0);
    const folder = join(cli.home, '.local/state/poproom/ui');
    const [name = ''] = await readdir(folder);
    assert.deepEqual(JSON.parse(await readFile(join(folder, name), 'utf8')), { a: '1' });
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600);

    const two = await openAsBrowser(await startLocalPage(t, `${server.url}/`, { cli }));
    assert.deepEqual(await open(two, { id, from: `${id}.2` }), { kept: { a: '1' }, tab: {} });
    const valid = { id, number: 1, kept: {}, tab: {} };
    const wrong = [
      null,
      {},
      { ...valid, kept: { a: 1 } },
      { ...valid, id: '' },
      { ...valid, kept: [] },
      { ...valid, number: '1' },
    ];
    for (const body of wrong) assert.equal((await patch(two, body)).status, 400, JSON.stringify(body));
    const large = { id, number: 1, kept: { a: 'x'.repeat(4 * 1024 * 1024) }, tab: {} };
    assert.equal((await patch(two, large)).status, 400);
    assert.deepEqual((await open(two, { id, from: null })).kept, { a: '1' });

    const other = await startServer(t);
    const three = await openAsBrowser(await startLocalPage(t, other.url, { cli }));
    assert.deepEqual((await open(three, { id, from: null })).kept, {});
    await cli.run(['config', 'set', 'recent', 'off']);
    const four = await openAsBrowser(await startLocalPage(t, server.url, { cli }));
    assert.deepEqual((await open(four, { id, from: null })).kept, {});
    await patch(four, { id, number: 1, kept: { c: '4' }, tab: {} });
    assert.deepEqual((await open(four, { id, from: null })).kept, { c: '4' });
    assert.equal((await readdir(folder)).length, 1);
  });

  it('[UI-5] reach the next page of the tab although its request overtakes the last change', async (t) => {
    const server = await startServer(t);
    const { ask } = await openAsBrowser(await startLocalPage(t, server.url));
    const send = async (method: string, body: object) =>
      JSON.parse((await ask('/stored-values', { method, body: JSON.stringify(body) })).text);
    const id = 'tab-number-1';
    await send('POST', { id, from: null });
    await send('PATCH', { id, number: 1, kept: {}, tab: { text: 'first' } });
    const next = send('POST', { id: 'tab-number-2', from: `${id}.3` });
    await send('PATCH', { id, number: 3, kept: {}, tab: { text: 'third' } });
    await send('PATCH', { id, number: 2, kept: {}, tab: { text: 'second' } });
    assert.deepEqual(await next, { kept: {}, tab: { text: 'third' } });
    assert.deepEqual((await send('POST', { id: 'tab-number-3', from: `${id}.3` })).tab, { text: 'third' });
    assert.deepEqual(
      (await send('POST', { id: 'tab-number-4', from: `${id}.4` })).tab,
      { text: 'third' },
      'a lost change',
    );
  });

  it('[UI-6] have the key of the room, which is in no argument and no URL', async (t) => {
    const server = await startServer(t);
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const { roomId: code, key } = JSON.parse((await cli.run(['new', '--encrypted', '--json'])).stdout);
    const browser = join(cli.bin, 'xdg-open');
    await writeFile(browser, `#!/bin/sh\necho "$@" > "${cli.home}/opened"\n`);
    await chmod(browser, 0o755);
    const command = cli.start(['ui', code], { env: { DISPLAY: ':9', POPROOM_LAN_LINK: 'off' } });
    const opened = await eventually('the browser is started', () =>
      readFile(join(cli.home, 'opened'), 'utf8').then(
        (text) => text.trim() || undefined,
        () => undefined,
      ),
    );
    await command.waitForOutput(/token=.*\n/);
    assert.equal(command.stdout().trim(), opened);
    assert.match(opened, /^http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}$/);
    const { base, ask } = await openAsBrowser({ command, cli, link: opened, origin: new URL(opened).origin });
    const body = JSON.stringify({ id: 'tab-number-1', from: null });
    const { tab } = JSON.parse((await ask('/stored-values', { method: 'POST', body })).text);
    assert.deepEqual(tab, { [`poproom:key:${code}`]: JSON.stringify(key) });
    assert.ok(base);

    const refused = await cli.run(['ui', `${server.url}/r/${code}#${key}`]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /Do not pass a link with a room key as an argument/);
    assert.ok(!refused.stderr.includes(key));
  });
});

describe('poproom ui, its server and its end', () => {
  it('[slow] [UI-7] does not start without the server, and says why', async (t) => {
    const cli = await createCli(t);
    // The system gives this port to no other test.
    const { code, stdout, stderr } = await cli.run(['ui', '--url', 'http://127.0.0.1:2']);
    assert.deepEqual([code, stdout], [8, '']);
    assert.match(stderr, /^poproom: Cannot connect to .* no server is running there/);
    const silent = await listenTcp(
      t,
      createTcpServer((socket) => socket.resume()),
    );
    assert.match((await cli.run(['ui', '--url', silent, '--timeout', '0.2s'])).stderr, /did not respond in time/);
    const server = await startServer(t);
    const { port } = new URL((await startLocalPage(t, server.url)).origin);
    const taken = await cli.run(['ui', '--url', server.url, '--port', port]);
    assert.deepEqual([taken.code, taken.stderr], [2, `poproom: Port ${port} is in use; choose another one.\n`]);
    assert.equal((await cli.run(['ui', '--port', 'http'])).code, 2);
    assert.equal((await cli.run(['ui', 'A', 'B'])).code, 2);
  });

  it('[slow] [UI-7] reports a lost connection once, in the terminal and to the page, and when it is back', async (t) => {
    const server = await startServer(t);
    const malicious = await startMaliciousServer(t, () => server.port);
    const local = await startLocalPage(t, malicious.url);
    const { ask } = await openAsBrowser(local);
    assert.equal((await ask('/livez')).status, 200);
    await server.stop();
    for (let i = 0; i < 3; i++) {
      const { status, text } = await ask('/livez');
      assert.deepEqual([status, JSON.parse(text).error.code], [502, 'OFFLINE']);
    }
    await local.command.waitForOutput(/Cannot connect to .*\n/);
    assert.match(local.command.stderr(), /^poproom: Cannot connect to [^\n]+\n$/);
    await server.restart();
    assert.equal((await ask('/livez')).status, 200);
    await local.command.waitForOutput(`poproom: Connected to ${malicious.url} again.\n`);
  });

  it('[slow] [UI-7] reports nothing if the browser leaves before the server answers', async (t) => {
    const sockets = new Set<object>();
    const open = () => sockets.size;
    let isFirst = true;
    const silent = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      if (isFirst) return void socket.once('data', () => socket.end(limitsResponse));
      sockets.add(socket);
      socket.resume().on('close', () => sockets.delete(socket));
    });
    const url = await listenTcp(t, silent);
    const local = await startLocalPage(t, url);
    isFirst = false;
    const { base, cookie, ask } = await openAsBrowser(local);
    const { origin } = local;
    const socket = new WebSocket(`${origin.replace('http', 'ws')}${base}/api/rooms/7KQ2MX/live`, 'poproom', {
      headers: { cookie, origin },
    });
    socket.on('error', () => undefined);
    const pending = request(new URL(origin), { path: `${base}/livez`, headers: { cookie } });
    pending.on('error', () => undefined).end();
    await eventually('the server has both', () => open() === 2);
    socket.terminate();
    pending.destroy();
    await eventually('the server has neither', () => open() === 0);
    assert.equal((await ask('/')).status, 200);
    assert.equal(local.command.stderr(), '');
  });

  it('[UI-7] verifies the certificate of the server', async (t) => {
    const cli = await createCli(t);
    const { key, cert } = writeCertificate(cli.home);
    const options = { key: await readFile(key), cert: await readFile(cert) };
    const server = createHttpsServer(options, (_, response) => response.end(limitsJson));
    const url = (await listenOnFreePort(t, server)).replace('http:', 'https:');
    const unknown = await cli.run(['ui', '--url', url]);
    assert.equal(unknown.code, 8);
    assert.match(unknown.stderr, /does not trust the issuer/);
    const { ask } = await openAsBrowser(await startLocalPage(t, url, { cli, env: { NODE_EXTRA_CA_CERTS: cert } }));
    assert.equal((await ask('/livez')).text, limitsJson);
  });

  it('[slow] [UI-7] prints only the link without a desktop, and ends with Ctrl-C although a page is open', async (t) => {
    const server = await startServer(t);
    const cli = await createCli(t, { POPROOM_URL: server.url, POPROOM_LAN_LINK: 'off' });
    const command = cli.terminal('poproom ui');
    await command.waitForOutput('Press Ctrl-C to stop.');
    const link = /http:\S+/.exec(command.stdout())?.[0] ?? '';
    const local = { command, cli, link, origin: new URL(link).origin };
    const { base, cookie } = await openAsBrowser(local);
    const code = await server.api.room();
    const { origin } = local;
    const live = `${origin.replace('http', 'ws')}${base}/api/rooms/${code}/live`;
    const socket = new WebSocket(live, 'poproom', { headers: { cookie, origin } });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    command.type('\x03');
    assert.equal((await command.result).code, 0);
    await closed;
  });

  it('[slow] [UI-8] forwards bodies of any size in both directions without keeping them', async (t) => {
    const size = 300 * 1024 * 1024;
    const server = await startServer(t, { POPROOM_FILE_MAX: String(size), POPROOM_ROOM_MAX_BYTES: String(size) });
    const local = await startLocalPage(t, server.url);
    const { base, cookie, ask } = await openAsBrowser(local);
    const code = await server.api.room();
    const before = await memoryOf(local);
    const upload = request(new URL(local.origin), {
      method: 'POST',
      path: `${base}/api/rooms/${code}/upload?fileName=large`,
      headers: { cookie, origin: local.origin, 'content-type': 'application/zip', 'content-length': size },
    });
    const chunk = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < size; sent += chunk.length) {
      if (!upload.write(chunk)) await once(upload, 'drain');
    }
    upload.end();
    const [stored] = (await once(upload, 'response')) as [IncomingMessage];
    const { fileUrl } = JSON.parse(Buffer.concat(await Array.fromAsync(stored)).toString());
    const download = request(new URL(local.origin), {
      path: base + new URL(fileUrl).pathname,
      headers: { cookie },
    });
    download.end();
    const [incoming] = (await once(download, 'response')) as [IncomingMessage];
    let received = 0;
    for await (const part of incoming) received += part.length;
    assert.equal(received, size);
    const grown = (await memoryOf(local)) - before;
    t.diagnostic(`memory grew by ${grown} MiB for ${size / 1024 / 1024} MiB in each direction`);
    assert.ok(grown < 200, `${grown} MiB`);
    assert.equal((await ask('/livez')).status, 200);
  });

  it('[slow] [UI-8] passes on the refusal of a body that is still being sent', async (t) => {
    const server = await startServer(t, { POPROOM_FILE_MAX: '1000' });
    const { ask } = await openAsBrowser(await startLocalPage(t, server.url));
    const { status, text } = await ask(`/api/rooms/${await server.api.room()}/upload?fileName=large`, {
      method: 'POST',
      headers: { 'content-type': 'application/zip' },
      body: Buffer.alloc(3 * 1024 * 1024),
    });
    assert.deepEqual([status, JSON.parse(text).error.code], [413, 'FILE_TOO_LARGE']);
  });
});

/** Of the process, at its highest, in MiB. */
async function memoryOf({ command }: LocalPage): Promise<number> {
  const status = await readFile(`/proc/${command.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

const limitsJson = JSON.stringify({
  roomLifetimeSeconds: 1,
  roomMaxLifetimeSeconds: 1,
  textBytes: 1,
  fileBytes: 1,
});
const limitsResponse = `HTTP/1.1 200 OK\r\nContent-Length: ${limitsJson.length}\r\nConnection: close\r\n\r\n${limitsJson}`;

/** A server that answers each connection with these bytes. */
async function listenRaw(t: TestContext, respond: (isFirst: boolean) => string): Promise<string> {
  let count = 0;
  return listenTcp(
    t,
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(respond(count++ === 0)));
    }),
  );
}

async function listenTcp(t: TestContext, server: ReturnType<typeof createTcpServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** One request for each endpoint that is forwarded. */
function forwardedPaths(): { method: string; path: string }[] {
  const names = ['live', 'getLimits'];
  return Object.entries(endpoints)
    .filter(([name, { tag }]) => names.includes(name) || ['Rooms', 'Text', 'Files'].includes(tag))
    .map(([, { method, path }]) => ({
      method,
      path: path.replace(':roomId', '7KQ2MX').replace(':fileId', '0'.repeat(32)).replace(/:\w+/g, 'evil.html'),
    }));
}

const hostileHeaders = {
  location: 'https://evil.example/',
  'set-cookie': ['a=b'],
  refresh: '0; url=https://evil.example/',
  link: '</evil.js>; rel=modulepreload',
  'service-worker-allowed': '/',
  'content-security-policy': "script-src 'unsafe-inline'",
  'clear-site-data': '"*"',
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'content-disposition': 'inline',
  'content-location': '/',
  'www-authenticate': 'Basic realm="Poproom"',
  'strict-transport-security': 'max-age=1000',
  'alt-svc': 'h2="evil.example:443"',
  'referrer-policy': 'unsafe-url',
  'x-content-type-options': '',
  'cache-control': 'public, max-age=31536000',
  sourcemap: '/x',
  'speculation-rules': '"/x"',
  'report-to': '{}',
  nel: '{}',
};

function attackWith(server: MaliciousServer, status: number, type: string): void {
  server.answer = () => ({
    status,
    headers: { ...hostileHeaders, 'content-type': type },
    body: Buffer.from('<script>alert(1)</script>'),
  });
}

/** Headers under which no browser runs anything of the body, however it is opened. */
function assertInert(name: string, headers: IncomingHttpHeaders, text: string): void {
  const isOwnPage = /<div id="app">/.test(text);
  const { 'content-type': type = '', 'content-security-policy': policy = '' } = headers;
  if (isOwnPage) {
    assert.ok(!text.includes('alert(1)'), name);
    assert.match(String(policy), /^default-src 'none'; script-src http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/assets\/;/, name);
  } else {
    assert.match(type, /^application\/(json; charset=utf-8|zip|octet-stream)$/, name);
    assert.match(headers['content-disposition'] ?? '', /^attachment/, name);
    assert.equal(policy, "sandbox; default-src 'none'; frame-ancestors 'self'", name);
  }
  assert.deepEqual(
    [headers['x-content-type-options'], headers['referrer-policy'], headers['cross-origin-resource-policy']],
    ['nosniff', 'no-referrer', 'same-origin'],
    name,
  );
  const own = [
    'content-security-policy',
    'content-disposition',
    'x-content-type-options',
    'referrer-policy',
    'cache-control',
  ];
  for (const header of Object.keys(hostileHeaders).filter((other) => !own.includes(other)))
    if (header !== 'location' || headers.location !== undefined)
      assert.equal(headers[header], undefined, `${name} ${header}`);
  assert.equal(headers['cache-control'], 'no-store', name);
}
