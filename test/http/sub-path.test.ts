/** A server whose public URL has a path, with and without that path in the requests. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { inspectConfig } from '../../src/config.ts';
import { adminEnv, adminToken } from '../support/admin.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const publicUrl = 'https://example.org/poproom';
const page = { Accept: 'text/html' };

describe('a public URL with a path', () => {
  it('[SUB-1] [SUB-2] serves the API with and without the path, and all URLs in responses have it', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: `${publicUrl}/`, POPROOM_FREE_LIMIT: '0' });
    for (const base of ['/poproom', '']) {
      const send = (method: string, path: string, init: RequestInit = {}) =>
        fetch(server.url + base + path, { method, redirect: 'manual', ...init });
      const created = await send('POST', '/api/rooms');
      const { roomId, link } = (await created.json()) as { roomId: string; link: string };
      const room = `/api/rooms/${roomId}`;
      assert.equal(link, `${publicUrl}/r/${roomId}`);
      assert.equal(created.headers.get('location'), publicUrl + room);

      const uploaded = await send('PUT', `${room}/upload/a.txt`, { body: 'text' });
      const { fileUrl } = (await uploaded.json()) as { fileUrl: string };
      assert.ok(fileUrl.startsWith(`${publicUrl}/files/`), fileUrl);
      assert.equal(uploaded.headers.get('location'), fileUrl);
      assert.equal(await (await send('GET', fileUrl.slice(publicUrl.length))).text(), 'text');

      const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '0' };
      const tus = await send('POST', `${room}/uploads`, { headers });
      assert.ok(tus.headers.get('location')?.startsWith(`${publicUrl}${room}/uploads/`));
      assert.ok(tus.headers.get('x-file-url')?.startsWith(`${publicUrl}/files/`));

      const [openapi, asyncapi] = await Promise.all(
        ['openapi', 'asyncapi'].map(async (name) => JSON.parse(await (await send('GET', `/api/${name}.json`)).text())),
      );
      assert.equal(openapi.servers[0].url, publicUrl);
      const { host, protocol, pathname } = asyncapi.servers.websocket;
      assert.deepEqual([host, protocol, pathname], ['example.org', 'wss', '/poproom']);

      assert.ok((await firstMessage(server, `${base}${room}/live`)).includes(fileUrl));
      const events = (await send('GET', `${room}/events`)).body?.getReader();
      assert.ok(new TextDecoder().decode((await events?.read())?.value).includes(fileUrl));
      await events?.cancel();
    }
  });

  it('[SUB-1] counts and rejects requests with the path like others', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: publicUrl, POPROOM_FREE_LIMIT: '2' });
    const status = async (path: string) => (await fetch(server.url + path)).status;
    assert.equal(await status('/poproom/api/unknown'), 404);
    assert.equal(await status('/api/unknown'), 404);
    assert.equal(await status('/poproom/api/rooms/7KQ2MX'), 429);
    assert.equal(await status('/poproom/livez'), 200);
    assert.deepEqual([await status('/metrics'), await status('/poproom/metrics')], [200, 404]);
    // Only the whole path counts.
    for (const path of ['/poproomx/livez', '/other/poproom/livez', '/POPROOM/livez', '//poproom/livez'])
      assert.equal(await status(path), 404, path);
  });

  describe('and the admin interface', () => {
    const paths = ['/admin', '/admin/', '/api/admin/numbers', '/poproom/admin', '/poproom/api/admin/numbers'];
    const found: Record<string, readonly [pathRemoved: string, statuses: readonly number[]]> = {
      'is only without the path, which a proxy may have removed from a path that had it twice': [
        '',
        [200, 308, 200, 404, 404],
      ],
      'is only without the path if the proxy removes it': ['true', [200, 308, 200, 404, 404]],
      'is also with the path if the proxy forwards it': ['false', [200, 308, 200, 200, 200]],
    };
    for (const [what, [pathRemoved, statuses]] of Object.entries(found)) {
      it(`[SUB-1] [ADMIN-1] ${what}`, async (t) => {
        const env = { ...adminEnv, POPROOM_PUBLIC_URL: publicUrl, POPROOM_PATH_REMOVED: pathRemoved };
        const server = await startTestServer(t, env);
        const headers = { Authorization: `Bearer ${adminToken}` };
        const status = async (path: string) => (await fetch(server.url + path, { headers, redirect: 'manual' })).status;
        assert.deepEqual(await Promise.all(paths.map(status)), statuses);
        for (const path of ['/poproom/admin/', '/poproom/%61dmin', '/poproom//admin', '/poproom/poproom/admin'])
          assert.notEqual(await status(path), 200, path);
      });
    }
  });

  it('[SUB-1] is not accepted if the proxy removes it', async (t) => {
    const env = { POPROOM_PUBLIC_URL: publicUrl, POPROOM_PATH_REMOVED: 'true' };
    const { url, api } = await startTestServer(t, env);
    for (const path of ['/', '/docs', '/livez', '/api/health', '/r/7KQ2MX'])
      assert.equal((await fetch(`${url}/poproom${path}`)).status, 404, path);
    assert.equal((await api.get('/')).status, 200);
    assert.equal((await api.get('/docs/')).headers.get('location'), '/poproom/docs');
    const room = await api.room();
    await assert.rejects(firstMessage({ url }, `/poproom/api/rooms/${room}/live`), /404/);
    assert.match(await firstMessage({ url }, `/api/rooms/${room}/live`), /"snapshot"/);
  });

  it('[SUB-2] stays in redirects, and leads to the home page without a slash', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: publicUrl });
    const redirect = async (path: string) => {
      const { status, headers } = await fetch(server.url + path, { redirect: 'manual' });
      return [status, headers.get('location')];
    };
    assert.deepEqual(await redirect('/poproom?a=/b'), [308, '/poproom/?a=/b']);
    for (const path of ['/poproom/docs/', '/docs/']) assert.deepEqual(await redirect(path), [308, '/poproom/docs']);
    assert.deepEqual(await redirect('/r/7KQ2MX/?x'), [308, '/poproom/r/7KQ2MX?x']);
    assert.deepEqual(await redirect('/poproom//'), [404, null]);
    assert.equal((await fetch(`${server.url}/poproom`, { method: 'POST' })).status, 404);
  });

  it('[SUB-3] is in all links of the page, of an error page and of /docs, and is the scope of the page', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: "https://example.org/it's/poproom" });
    const base = '/it&#39;s/poproom/';
    for (const path of ['/', "/it's/poproom/", "/it's/poproom/r/7KQ2MX", "/it's/poproom/a/b/c", '/a/b/c', '/docs']) {
      const html = await (await fetch(server.url + path, { headers: page })).text();
      const links = [...html.matchAll(/ (?:href|src)="([^#"][^"]*)"/g)].map(([, link = '']) => link);
      assert.ok(links.length >= 5, path);
      for (const link of links) assert.ok(link.startsWith(base), `${path}: ${link}`);
    }
    const worker = await fetch(`${server.url}/it's/poproom/assets/service-worker.js`);
    assert.equal(worker.headers.get('service-worker-allowed'), "/it's/poproom/");
    const manifestUrl = `${server.url}/it's/poproom/assets/manifest.webmanifest`;
    const manifest = JSON.parse(await (await fetch(manifestUrl)).text());
    const urls = [manifest.start_url, manifest.scope, manifest.share_target.action, manifest.icons[0].src];
    assert.deepEqual(
      urls.map((url) => new URL(url, manifestUrl).pathname),
      ['', '', 'share', 'assets/icon-192.png'].map((path) => `/it's/poproom/${path}`),
    );
    // Otherwise two installations on the same host would be the same app.
    assert.equal(manifest.id, undefined);
  });

  it('[SUB-3] changes nothing in the page at the root of a host', async (t) => {
    const server = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://example.org' });
    const all = await readFile(new URL('../../dist/web/index.html', import.meta.url), 'utf8');
    const built = all.replaceAll(/<link [^>]*data-view="(room|encrypted)"[^>]*>/g, '');
    const served = await (await fetch(server.url)).text();
    const files = (html: string) => html.match(/ (?:href|src)="[^"]*"/g);
    assert.deepEqual(files(served), files(built));
    assert.ok(files(built)?.every((file) => file.includes('="/assets/')));
    const worker = await fetch(`${server.url}/assets/service-worker.js`);
    assert.equal(worker.headers.get('service-worker-allowed'), '/');
  });

  it('[SUB-4] is rejected if it could be a path of the server, or leads to another host', () => {
    const problemsOf = (path: string) => inspectConfig({ POPROOM_PUBLIC_URL: `https://example.org${path}` }).problems;
    for (const path of ['/api', '/admin', '/assets/', '/docs', '/files/x', '/r'])
      assert.match(problemsOf(path)[0] ?? '', /^POPROOM_PUBLIC_URL must not have a path that starts with \/api/, path);
    for (const path of ['//evil.example', '/a//b'])
      assert.match(problemsOf(path)[0] ?? '', /^POPROOM_PUBLIC_URL must not have \/\/ in its path/, path);
    for (const path of ['', '/', '/poproom/', '/rooms', '/share', '/a/b/c'])
      assert.deepEqual(problemsOf(path), [], path);
  });
});

/** Joins the room and returns the first message. */
async function firstMessage(server: Pick<TestServer, 'url'>, path: string): Promise<string> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path);
  try {
    return await new Promise((resolve, reject) => {
      socket.once('open', () => socket.send(JSON.stringify({ type: 'join' })));
      socket.once('message', (data) => resolve(String(data))).once('error', reject);
    });
  } finally {
    socket.terminate();
  }
}
