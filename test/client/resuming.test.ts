/** Coming back with a token, whatever limit is used up. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

const elsewhere = { from: '10.0.0.9' };
const farHeaders = { 'x-forwarded-for': elsewhere.from };

describe('a client that was in the room', () => {
  it('[SDK-19] reconnects after its connection was lost, though all requests are used up', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room({ pin: '0427' }, elsewhere);
    const follower = follow(t, createClient({ url: proxy.url }).room(room, { pin: '0427' }));
    await follower.next('snapshot');
    await useUp(server);
    for (let times = 0; times < 3; times++) {
      proxy.disconnect();
      assert.equal((await follower.next('waiting')).error.code, 'OFFLINE');
      await follower.next('connected');
    }
    assert.ok(!follower.events.some((event) => event.type === 'waiting' && event.error.code === 'RATE_LIMITED'));
  });

  it('[SDK-19] sends its offline edits, and uses no requests to reconnect', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '5' });
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await server.api.room({}, elsewhere);
    const watcher = await joinRoom(t, server.url, room, {}, { headers: farHeaders });
    const text = createClient({ url: proxy.url }).room(room).text();
    t.after(() => text.close());
    text.append('one ');
    await watcher.next('content', ({ content }) => content === 'one ');
    const before = await remaining(server);
    proxy.disconnect();
    await eventually('the loss is noticed', () => !text.isOnline);
    text.append('two');
    await watcher.next('content', ({ content }) => content === 'one two');
    assert.equal(await remaining(server), before);
  });

  it('[SDK-19] rejoins without the PIN in a new process that has its token', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const room = await server.api.room({ pin: '0427' }, elsewhere);
    const tokens: string[] = [];
    const onResumeToken = (token: string) => void tokens.push(token);
    const first = follow(t, createClient({ url: server.url }).room(room, { pin: '0427' }), { onResumeToken });
    const snapshot = await first.next('snapshot');
    assert.ok(!('resumeToken' in snapshot), 'programs that log events do not log it');
    first.leave();
    assert.equal(await first.end, 'left');
    const [resumeToken] = tokens;
    assert.ok(resumeToken);
    const again = follow(t, createClient({ url: server.url }).room(room), { resumeToken });
    await again.next('snapshot');
  });

  it('[SDK-19] is notified of the limit when its token is rejected', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const room = await server.api.room({}, elsewhere);
    await useUp(server);
    for (const resumeToken of ['made.up', 'what no socket can be opened with']) {
      const follower = follow(t, createClient({ url: server.url }).room(room), { resumeToken });
      let waiting = await follower.next('waiting');
      while (waiting.error.code === 'UNAVAILABLE') waiting = await follower.next('waiting');
      assert.equal(waiting.error.code, 'RATE_LIMITED');
      assert.ok(follower.events.filter(({ type }) => type === 'waiting').length <= 3);
      follower.leave();
    }
  });
});

/** All requests of this machine. */
async function useUp(server: TestServer): Promise<void> {
  while ((await remaining(server)) > 0) await server.api.get('/api/health');
}

/** Asking is free. */
async function remaining({ api }: TestServer): Promise<number> {
  return Number((await api.get('/livez')).headers.get('x-ratelimit-remaining'));
}
