/** The samples of the operations guide, on real proxies. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { guideSamples, hasProxy, type ProxyKind, startBehindProxy } from '../support/proxy.ts';
import { startTestServer } from '../support/server.ts';

describe('the proxy samples', () => {
  for (const kind of ['nginx', 'caddy', 'haproxy'] as const) {
    // Caddy is not required for the tests.
    const skip = kind === 'caddy' && !hasProxy(kind);
    it(`[OPS-13] forward the address of the client, and no other, on ${kind}`, { skip }, async (t) => {
      const { server, url } = await startProxy(t, kind);
      const room = await server.api.room();
      const remaining = (from: string, headers = {}) => remainingAt(`${url}/api/rooms/${room}`, from, headers);
      assert.deepEqual([await remaining('127.0.0.2'), await remaining('127.0.0.3')], [99, 99]);
      for (const claimed of ['203.0.113.9', '127.0.0.1', '203.0.113.9, 127.0.0.1'])
        await remaining('127.0.0.2', { 'x-forwarded-for': claimed, 'x-real-ip': claimed, forwarded: `for=${claimed}` });
      assert.deepEqual([await remaining('127.0.0.2'), await remaining('127.0.0.3')], [95, 98]);
      assert.equal((await fetch(`${url}/metrics`)).status, 404);
    });
  }
});

describe('the nginx sample', () => {
  it('[OPS-12] logs no room code, even if the server is gone, and keeps /metrics private', async (t) => {
    const { server, url, folder } = await startProxy(t, 'nginx');
    assert.equal((await server.api.get('/metrics')).status, 200);
    assert.equal((await fetch(`${url}/metrics`)).status, 404);
    await server.stop();
    assert.equal((await fetch(`${url}/r/7KQ2MX`)).status, 502);
    for (const name of ['main.log', 'error.log'])
      assert.ok(!(await readFile(join(folder, name), 'utf8')).includes('7KQ2MX'), name);
  });
});

const startProxy = (t: TestContext, kind: ProxyKind) =>
  startBehindProxy(t, kind, { samples: guideSamples, start: () => startTestServer(t) });

function remainingAt(url: string, localAddress: string, headers: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { localAddress, headers: { ...headers }, agent: false }, (response) => {
      response.resume();
      resolve(Number(response.headers['x-ratelimit-remaining']));
    });
    sent.on('error', reject).end();
  });
}
