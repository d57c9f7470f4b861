/** Coming back without spending requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { freePort } from '../support/listen.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startCaptivePortal } from './captive-portal.ts';
import { follow } from './follower.ts';

const elsewhere = { from: '10.0.0.9' };

describe('reconnecting', () => {
  it('[SDK-5] uses no requests while the server is unreachable', async (t) => {
    const server = await startTestServer(t, { PORT: String(await freePort()) });
    const follower = follow(t, createClient({ url: server.url }).room(await server.api.room({}, elsewhere)));
    await follower.next('snapshot');
    const before = await remaining(server);
    await server.stop();
    for (let tries = 0; tries < 4; tries++) {
      await follower.next('waiting');
      follower.live.wake();
    }
    await server.restart();
    follower.live.wake();
    await follower.next('connected');
    assert.equal(await remaining(server), before, 'nor is a channel counted that resumes');
  });

  it('[SDK-3] backs off, whatever delay a proxy requests', async (t) => {
    const longAgo = new Date(0).toUTCString();
    for (const retryAfter of ['0', longAgo, 'soon', '99999999999']) {
      const headers = { 'Retry-After': retryAfter };
      const url = `http://127.0.0.1:${await startCaptivePortal(t, 503, { headers })}`;
      const before = Date.now();
      const { until } = await follow(t, createClient({ url }).room('7KQ2MX')).next('waiting');
      const ms = until.getTime() - before;
      assert.ok(ms >= 250 && until.getTime() - Date.now() <= 86_400_000, `${ms} ms after ${retryAfter}`);
    }
  });

  it('[SDK-5] uses no requests while the limit is reached, and reports until when', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room({}, elsewhere);
    const follower = follow(t, createClient({ url: proxy.url }).room(room));
    await follower.next('snapshot');
    await server.api.get('/api/health');
    await server.api.get('/api/health');
    assert.equal(await remaining(server), 0);

    // By the server's clock, its token is too old to resume with.
    server.clock.advance(20 * 60_000);
    proxy.disconnect();
    assert.equal((await follower.next('waiting')).error.code, 'OFFLINE');
    let waiting = await follower.next('waiting');
    while (waiting.error.code !== 'RATE_LIMITED') waiting = await follower.next('waiting');
    const { error, until } = waiting;
    assert.ok(error.retryAfter && error.retryAfter > 2_300);
    assert.ok(until.getTime() - Date.now() > 2_300_000);

    server.clock.advance(3_600_000);
    follower.live.wake();
    await follower.next('connected');
    assert.equal(await remaining(server), 2, 'the tries took nothing from the new hour');
  });

  it('[SDK-5] [SDK-4] reports the limit after the first attempt', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const room = await server.api.room({}, elsewhere);
    await server.api.get('/api/health');
    const follower = follow(t, createClient({ url: server.url }).room(room));
    assert.equal((await follower.next('waiting')).error.code, 'RATE_LIMITED');
    server.clock.advance(3_600_000);
    follower.live.wake();
    await follower.next('snapshot');
  });
});

/** Of this machine's requests; asking is free. */
async function remaining({ api }: TestServer): Promise<number> {
  return Number((await api.get('/livez')).headers.get('x-ratelimit-remaining'));
}
