/** The page as the server delivers it: content, permissions, caching and compression. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pageInFolder } from '../../src/http/page/source.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { createPageFolder, script } from '../support/page-folder.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const addresses = ['/', '/r/7KQ2MX', '/r/no%20code%20at%20all', '/share', '/share?text=hello', '/invite'];
const built = new URL('../../dist/web/', import.meta.url);
const assetNames = readdirSync(new URL('assets/', built)).filter((name) => !/\.(br|gz)$/.test(name));

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** Headers that are not about what is sent. */
const ofTheExchange = ['date', 'x-request-id', 'connection', 'keep-alive'];

/** A server with a page of known files. */
async function startWithMadePage(t: TestContext, env: Record<string, string> = {}) {
  const { folder, path } = await createPageFolder(t);
  return { server: await startTestServer(t, env, { page: pageInFolder(folder) }), path };
}

const textOf = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

function limitsIn({ text }: ApiResponse): unknown {
  const [, content = ''] = /<meta name="poproom-limits" content="([^"]*)">/.exec(text) ?? [];
  return JSON.parse(textOf(content));
}

/** The page without what only its first view needs. */
const withoutViewLinks = (html: string) => html.replaceAll(/\s*<link [^>]*data-view="\w+"[^>]*>/g, '');

function policyOf({ headers }: ApiResponse): Record<string, string> {
  const parts = (headers.get('content-security-policy') ?? '').split('; ').map((part) => part.split(/ (.*)/s));
  return Object.fromEntries(parts.map(([name = '', value = '']) => [name, value]));
}

describe('the page', () => {
  it('[SITE-1] is the same at all its URLs, whatever the room', async (t) => {
    const { api } = await sharedServer(t);
    const { text } = await api.get('/');
    assert.match(text, /^<!doctype html>/);
    for (const address of addresses) {
      const response = await api.get(address);
      assert.equal(response.status, 200, address);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(withoutViewLinks(response.text), withoutViewLinks(text));
    }
    assert.equal((await api.get('/r/7KQ2MX')).text, (await api.get('/r/no%20code%20at%20all')).text);
  });

  it('[SITE-1] consists of existing files, and is shown when its script has run', async (t) => {
    const { api } = await sharedServer(t);
    const { text } = await api.get('/');
    const names = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name = '']) => name);
    assert.ok(names.length > 2);
    for (const name of names) assert.equal((await api.get(name)).status, 200, name);
    assert.match(text, /<script type="module" blocking="render"/);
  });

  it('[SITE-1] loads the script and the style of its first view at once', async (t) => {
    const { api } = await sharedServer(t);
    const linksAt = async (path: string) =>
      [...(await api.get(path)).text.matchAll(/<link rel="(modulepreload|stylesheet)" [^>]*data-view="(\w+)"/g)].map(
        ([, rel, view]) => `${view} ${rel}`,
      );
    for (const [path, views] of Object.entries({
      '/': ['home'],
      '/r/7KQ2MX': ['room'],
      '/r/e7kq-2mx': ['encrypted', 'room'],
    })) {
      const links = new Set(await linksAt(path));
      const expected = views.flatMap((view) => [`${view} modulepreload`, `${view} stylesheet`]);
      assert.deepEqual([...links].toSorted(), expected, path);
    }
    assert.deepEqual(await linksAt('/invite'), []);
  });

  it('[SITE-1] is missing if it was not built, and available as soon as it is', async (t) => {
    const { server, path } = await startWithMadePage(t);
    const html = await readFile(join(path, 'index.html'));
    await rm(join(path, 'index.html'));
    for (const address of [...addresses, '/assets/icon.svg']) {
      const response = await server.api.get(address);
      assertError(response, 404, 'NOT_FOUND');
      assert.match(response.json.error.message, /npm run build/);
    }
    await writeFile(join(path, 'index.html'), html);
    assert.equal((await server.api.get('/')).status, 200);
    assert.equal((await server.api.get('/assets/icon.svg')).status, 200);
  });

  it('[SITE-2] contains the limits of this server', async (t) => {
    const server = await startTestServer(t);
    const sizes = { contentMax: 1_048_576, fileMax: 10_485_760 };
    const standard = { roomTtl: 86_400, roomMaxTtl: 604_800, ...sizes, webhooks: false };
    assert.deepEqual(limitsIn(await server.api.get('/')), standard);
    await server.restart({ POPROOM_ROOM_TTL: '90m', POPROOM_ROOM_MAX_TTL: '2d', POPROOM_CONTENT_MAX: '64KiB' });
    const own = { ...standard, roomTtl: 5400, roomMaxTtl: 172_800, contentMax: 65_536 };
    for (const address of addresses) assert.deepEqual(limitsIn(await server.api.get(address)), own);
  });

  it('[SITE-3] may load only from this server', async (t) => {
    const { api } = await sharedServer(t);
    for (const address of addresses) {
      assert.deepEqual(policyOf(await api.get(address)), {
        'default-src': "'none'",
        'script-src': "'self'",
        'style-src': "'self'",
        'img-src': "'self' blob:",
        'media-src': "'self' blob:",
        'frame-src': "'self'",
        'connect-src': "'self'",
        'manifest-src': "'self'",
        'worker-src': "'self'",
        'form-action': "'self'",
        'base-uri': "'none'",
        'frame-ancestors': "'none'",
        'require-trusted-types-for': "'script'",
        'trusted-types': 'poproom',
      });
    }
  });

  it('[SITE-3] may show images, audio, video and PDF from the origin of the files', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org' });
    assert.equal(policyOf(await server.api.get('/'))['img-src'], "'self' blob: https://pop.example.org");
    const tag = (await server.api.get('/')).headers.get('etag') ?? '';
    await server.restart({ POPROOM_FILES_URL: 'https://files.example.org:8443/of/poproom' });
    const response = await server.api.get('/', { headers: { 'if-none-match': tag } });
    assert.equal(response.status, 200, 'a copy with the old policy is not good any more');
    const policy = policyOf(response);
    for (const type of ['img-src', 'media-src'])
      assert.equal(policy[type], "'self' blob: https://files.example.org:8443");
    assert.equal(policy['frame-src'], "'self' https://files.example.org:8443");
  });

  it('[SITE-3] has no inline script or style, and loads nothing from elsewhere', async (t) => {
    const { api } = await sharedServer(t);
    const { text } = await api.get('/');
    assert.doesNotMatch(text, /<style|\sstyle=|\son\w+=|javascript:|https?:|\/\/[a-z]/i);
    for (const [, attributes, body] of text.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)) {
      assert.match(attributes ?? '', / src="\/assets\//);
      assert.equal(body, '');
    }
  });

  it('[SITE-4] does not reveal the code of a room', async (t) => {
    const { api } = await sharedServer(t);
    for (const address of addresses) {
      const { headers } = await api.get(address);
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.equal(
        headers.get('permissions-policy'),
        'camera=(self), clipboard-read=(self), clipboard-write=(self), microphone=(), geolocation=()',
      );
      assert.equal(headers.get('x-robots-tag'), address === '/' ? null : 'noindex', address);
    }
  });

  it('[SITE-9] does not count, requires no key, and reports the limit', async (t) => {
    const { server } = await startWithMadePage(t, { POPROOM_FREE_LIMIT: '2', POPROOM_REQUIRE_API_KEY: 'true' });
    for (const address of [...addresses, '/assets/icon.svg', '/assets/index.abcdef012345.js']) {
      const { status, headers } = await server.api.get(address);
      assert.equal(status, 200);
      assert.equal(headers.get('x-ratelimit-remaining'), '2');
      assert.ok(headers.get('ratelimit') && headers.get('x-request-id'));
    }
    for (let requests = 0; requests < 3; requests++) await server.api.get('/api/health');
    assert.equal((await server.api.get('/')).status, 200, 'there for those whose limit is used up');
  });
});

describe('a file of the page', () => {
  it('[SITE-7] has the media type of its name', async (t) => {
    const { server } = await startWithMadePage(t);
    const types = {
      'index.abcdef012345.js': 'text/javascript; charset=utf-8',
      'index.0123456789ab.css': 'text/css; charset=utf-8',
      'icon.svg': 'image/svg+xml; charset=utf-8',
      'icon-maskable.png': 'image/png',
      'manifest.webmanifest': 'application/manifest+json; charset=utf-8',
      'licenses.md': 'text/markdown; charset=utf-8',
      'strange.thing': 'application/octet-stream',
    };
    for (const [name, type] of Object.entries(types)) {
      const { headers } = await server.api.get(`/assets/${name}`);
      assert.equal(headers.get('content-type'), type);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    }
  });

  it('[SITE-7] may be the service worker of the whole origin, if it is the service worker file', async (t) => {
    const { server } = await startWithMadePage(t);
    const scopeOf = async (name: string) =>
      (await server.api.get(`/assets/${name}`)).headers.get('service-worker-allowed');
    assert.equal(await scopeOf('service-worker.js'), '/');
    assert.equal(await scopeOf('index.abcdef012345.js'), null);
  });

  it('[SITE-5] is cached for a year if its name contains its hash, and revalidated otherwise', async (t) => {
    const { server } = await startWithMadePage(t);
    const keptAs = async (address: string) => (await server.api.get(address)).headers.get('cache-control');
    for (const name of ['index.abcdef012345.js', 'index.0123456789ab.css']) {
      assert.equal(await keptAs(`/assets/${name}`), 'public, max-age=31536000, immutable');
    }
    const steady = ['icon.svg', 'icon-maskable.png', 'manifest.webmanifest', 'licenses.md', 'service-worker.js'];
    for (const address of [...steady.map((name) => `/assets/${name}`), ...addresses]) {
      assert.equal(await keptAs(address), 'no-cache');
    }
  });

  for (const encoding of ['br', 'gzip', 'identity']) {
    it(`[SITE-5] [SITE-6] is not sent again to a client that has it, encoding ${encoding}`, async (t) => {
      const { server } = await startWithMadePage(t);
      for (const address of ['/', '/r/7KQ2MX', '/assets/index.abcdef012345.js', '/assets/manifest.webmanifest']) {
        const sent = { 'accept-encoding': encoding };
        const first = await server.api.get(address, { headers: sent });
        const tag = first.headers.get('etag') ?? '';
        const again = await server.api.get(address, { headers: { ...sent, 'if-none-match': `"x", W/${tag}` } });
        assert.deepEqual([first.status, again.status, again.text], [200, 304, '']);
        for (const name of ['etag', 'cache-control', 'vary', 'content-security-policy']) {
          assert.equal(again.headers.get(name), first.headers.get(name));
        }
        const other = await server.api.get(address, { headers: { ...sent, 'if-none-match': '"x"' } });
        assert.equal(other.text, first.text);
      }
    });
  }

  it('[SITE-5] [SITE-6] has its own ETag in each encoding', async (t) => {
    const { server } = await startWithMadePage(t);
    for (const address of ['/', '/assets/index.abcdef012345.js']) {
      const tagIn = async (encoding: string) =>
        (await server.api.get(address, { headers: { 'accept-encoding': encoding } })).headers.get('etag');
      const tags = await Promise.all(['br', 'gzip', 'identity'].map(tagIn));
      assert.equal(new Set(tags).size, 3);
    }
  });

  it('[SITE-6] is sent in the encoding that the client prefers', async (t) => {
    const { server } = await startWithMadePage(t, { POPROOM_FREE_LIMIT: '0' });
    const wishes: [string, string | null][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, deflate', 'gzip'],
      ['GZIP', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['br; q=0.0 , gzip;q=0', null],
      ['br;q=0.2, gzip;q=0.9', 'gzip'],
      ['gzip;q=0.5, identity', null],
      ['*', 'br'],
      ['*;q=0', null],
      ['br;q=0, *', 'gzip'],
      ['identity', null],
      ['deflate', null],
      ['br;q=nonsense', 'br'],
      ['', null],
    ];
    for (const [wish, encoding] of wishes) {
      for (const address of ['/', '/assets/index.abcdef012345.js']) {
        const { status, text, headers } = await server.api.get(address, { headers: { 'accept-encoding': wish } });
        assert.deepEqual([status, headers.get('content-encoding')], [200, encoding], `${address} ${wish}`);
        assert.equal(headers.get('vary'), 'Accept-Encoding');
        assert.equal(text, address === '/' ? (await plainly(t, server, '/')).text : script);
      }
    }
  });

  it('[SITE-6] is sent unencoded to clients that name no encoding', async (t) => {
    const { server } = await startWithMadePage(t);
    const { headers, text } = await plainly(t, server, '/assets/index.abcdef012345.js');
    assert.equal(headers.get('content-encoding'), null);
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(script)));
    assert.equal(text, script);
    const small = await server.api.get('/assets/icon.svg', { headers: { 'accept-encoding': 'br' } });
    assert.deepEqual([small.headers.get('content-encoding'), small.headers.get('vary')], [null, null]);
  });

  it('[SITE-7] answers HEAD like GET, without the bytes', async (t) => {
    const { server } = await startWithMadePage(t);
    for (const address of [...addresses, '/assets/index.abcdef012345.js', '/assets/service-worker.js']) {
      const [got, head] = await Promise.all(['GET', 'HEAD'].map((method) => server.api.call(method, address)));
      assert.ok(got && head);
      assert.deepEqual([head.status, head.text], [200, '']);
      for (const [name, value] of got.headers) {
        if (!ofTheExchange.includes(name)) assert.equal(head.headers.get(name), value, name);
      }
      assert.equal((await server.api.post(address)).code, 'METHOD_NOT_ALLOWED');
    }
  });

  it('[SITE-8] is part of the build, whatever is requested', async (t) => {
    const { server, path } = await startWithMadePage(t, { POPROOM_FREE_LIMIT: '0' });
    const names = ['nothing.js', '..%2fsecret.txt', '..%2Findex.html', '%2e%2e', '.', '%2e', '..%5csecret.txt', '%00'];
    names.push('index.abcdef012345.js.br', 'index.abcdef012345.js.gz', 'icon.svg%00.png', 'ICON.SVG', '__proto__');
    names.push('constructor', encodeURIComponent(join(path, 'secret.txt')), '%', '%ff', 'icon.svg%2f', '..%2fmain.js');
    for (const name of names) {
      const response = await requestRaw(
        t,
        server.port,
        requestLines(`GET /assets/${name} HTTP/1.1`, 'Host: a', 'Connection: close'),
      );
      assertError(response, 404, 'NOT_FOUND', name);
    }
    for (const target of ['/assets', '/assets/', '/assets/../secret.txt', '/assets/a/b', '/r', '/r/', '/r/A/B']) {
      const response = await requestRaw(
        t,
        server.port,
        requestLines(`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close'),
      );
      assertError(response, 404, 'NOT_FOUND', target);
    }
  });
});

describe('the page that was built', () => {
  it('[SITE-6] [SITE-7] is served file by file, each with a type, the longer ones compressed', async (t) => {
    const { api } = await sharedServer(t);
    for (const name of assetNames) {
      const bytes = readFileSync(new URL(`assets/${name}`, built));
      const { status, headers } = await api.get(`/assets/${name}`, { headers: { 'accept-encoding': 'br' } });
      assert.equal(status, 200);
      assert.notEqual(headers.get('content-type'), 'application/octet-stream', name);
      const compressed = /\.(js|css|svg|webmanifest|md)$/.test(name) && bytes.length > 1000;
      assert.equal(headers.get('content-encoding'), compressed ? 'br' : null, name);
    }
  });

  it('[SITE-6] has the same content in all encodings', async () => {
    const folder = new URL('assets/', built);
    for (const name of await readdir(folder)) {
      if (!/\.(br|gz)$/.test(name)) continue;
      const [decoded, plain] = [decode(name), readFileSync(new URL(name.slice(0, -3), folder))];
      assert.ok(decoded.equals(plain), name);
    }
    function decode(name: string): Buffer {
      const bytes = readFileSync(new URL(name, folder));
      return name.endsWith('.br') ? brotliDecompressSync(bytes) : gunzipSync(bytes);
    }
  });

  it('[SITE-5] has its scripts and styles under names that contain their hash', async (t) => {
    const { api } = await sharedServer(t);
    const { text } = await api.get('/');
    const loaded = [...text.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, address = '']) => address);
    assert.ok(loaded.length >= 2);
    for (const address of loaded) {
      assert.match((await api.get(address)).headers.get('cache-control') ?? '', /immutable/);
    }
  });

  it('[SITE-10] answers browsers that open a broken link with the page, and programs with JSON', async (t) => {
    const { api, url } = await sharedServer(t);
    const page = await api.get('/');
    const gone = `/files/${'0'.repeat(32)}/report.pdf`;
    for (const path of ['/no/such/page', gone, '/docs/unknown', '/livez/x']) {
      // The OpenAPI document describes the responses to programs.
      const response = await fetch(url + path, { headers: browser });
      assert.equal(response.status, 404, path);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(response.headers.get('content-security-policy'), page.headers.get('content-security-policy'));
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.match(response.headers.get('vary') ?? '', /\bAccept\b/);
      assert.equal(response.headers.get('etag'), null);
      assert.equal(await response.text(), withoutViewLinks(page.text));
      assertError(await api.get(path), 404, path === gone ? 'FILE_NOT_FOUND' : 'NOT_FOUND');
    }
    assertError(await api.get('/api/nothing', { headers: browser }), 404, 'NOT_FOUND');
    assertError(await api.get('/assets/nothing.js', { headers: browser }), 404, 'NOT_FOUND');
    assertError(await api.post('/no/such/page', { headers: browser }), 404, 'NOT_FOUND');
  });

  it('[SITE-10] answers browsers with JSON if the page was not built', async (t) => {
    const { api } = await startTestServer(t, {}, { page: async () => new Map() });
    assertError(await api.get('/no/such/page', { headers: browser }), 404, 'NOT_FOUND');
  });

  it('[SITE-11] redirects from a trailing slash, and has an icon where browsers look for it', async (t) => {
    const { api } = await sharedServer(t);
    for (const path of ['/docs', '/share', '/invite', '/r/7KQ2MX']) {
      const response = await api.get(`${path}/?text=a%20b`);
      assert.equal(response.status, 308, path);
      assert.equal(response.headers.get('location'), `${path}?text=a%20b`);
    }
    for (const path of ['/api/health/', '/docs//', '/nothing/', '/assets/icon.svg/', '/favicon.ico/']) {
      assertError(await api.get(path), 404, 'NOT_FOUND');
    }
    const icon = await api.get('/favicon.ico');
    assert.equal(icon.status, 200);
    assert.equal(icon.headers.get('content-type'), 'image/x-icon');
  });

  it('[SITE-12] describes itself to link previews without the code of a room', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example' });
    const { text } = await api.get('/r/7KQ2MX');
    assert.match(text, /<meta property="og:title" content="Poproom">/);
    assert.match(text, /<meta property="og:image" content="https:\/\/pop\.example\/assets\/icon-512\.png">/);
    assert.doesNotMatch(text, /"og:url"|7KQ2MX/);
    const unknown = await sharedServer(t);
    assert.doesNotMatch((await unknown.api.get('/r/7KQ2MX')).text, /og:image/);
  });
});

/** Without Accept-Encoding, which fetch always sends. */
async function plainly(t: TestContext, { port }: TestServer, address: string): Promise<ApiResponse> {
  return requestRaw(t, port, requestLines(`GET ${address} HTTP/1.1`, 'Host: a', 'Connection: close'));
}
