/** The samples for hosting under a path, on real proxies. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { adminEnv } from '../support/admin.ts';
import { hasProxy, type ProxyKind, startBehindProxy } from '../support/proxy.ts';
import { startTestServer } from '../support/server.ts';

/** Changes a sample so that the proxy removes the path. */
const stripping: Record<ProxyKind, (sample: string) => string> = {
  nginx: (sample) => sample.replace('~ ^/poproom(/|$)', '/poproom/').replace('proxy_pass http://127.0.0.1:8080', '$&/'),
  caddy: (sample) => sample.replace('handle @poproom {', '$&\nuri strip_prefix /poproom'),
  haproxy: (sample) => sample.replace('backend poproom\n', '$&    http-request replace-path /poproom/?(.*) /\\1\n'),
};

describe('the samples for a path', () => {
  for (const kind of ['nginx', 'caddy', 'haproxy'] as const) {
    for (const change of [undefined, stripping[kind]]) {
      const how = change ? 'if the path is removed' : 'as it is';
      // Caddy is not required for the tests.
      const skip = kind === 'caddy' && !hasProxy(kind);
      it(`[SUB-8] work on ${kind}, ${how}`, { skip }, (t) => assertWorks(t, kind, change));
    }
  }
});

describe('a proxy that removes the path', () => {
  for (const kind of ['nginx', 'haproxy'] as const) {
    it(`[SUB-1] reaches the admin page with the path, and not with the path twice: ${kind}`, async (t) => {
      const start = (publicUrl: string) => startTestServer(t, { ...adminEnv, POPROOM_PUBLIC_URL: publicUrl });
      const { url } = await startBehindProxy(t, kind, { start, change: stripping[kind] });
      const status = async (path: string) => (await fetch(url + path)).status;
      assert.equal(await status('/admin'), 200);
      assert.equal(await status('/api/admin/numbers'), 401);
      for (const path of ['/poproom/admin', '/poproom/admin/', '/poproom/api/admin/numbers', '/poproom/metrics'])
        assert.equal(await status(path), 404, path);
    });
  }
});

async function assertWorks(t: TestContext, kind: ProxyKind, change: ((sample: string) => string) | undefined) {
  const start = (publicUrl: string) => startTestServer(t, { POPROOM_PUBLIC_URL: publicUrl, POPROOM_FREE_LIMIT: '0' });
  const { url } = await startBehindProxy(t, kind, { start, ...(change && { change }) });
  const [home, unslashed] = await Promise.all([fetch(`${url}/`), fetch(url)]);
  const html = await home.text();
  if (!change) assert.equal(unslashed.url, `${url}/`);
  assert.equal(await unslashed.text(), html);
  const [, script = ''] = / src="([^"]+\.js)"/.exec(html) ?? [];
  assert.match((await fetch(new URL(script, url))).headers.get('content-type') ?? '', /^text\/javascript/);
  if (!change) assert.equal((await fetch(`${url}/metrics`)).status, 404);

  const room = await createClient({ url }).createRoom();
  assert.equal((await fetch(room.link)).status, 200);
  // The name needs percent-encoding, which a proxy must not change.
  const { fileUrl } = await room.upload(new Blob(['bytes']), { name: 'ä %25?#.txt' });
  assert.ok(fileUrl.startsWith(`${url}/files/`), fileUrl);
  assert.equal(await (await fetch(fileUrl)).text(), 'bytes');
  for await (const { type } of room.live()) if (type === 'snapshot') break;
}
