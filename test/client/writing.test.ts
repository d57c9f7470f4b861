/** Writing the text with the SDK. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, PoproomError } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

describe('a write', () => {
  it('[SDK-6] returns `written`, or `conflict` with the current text', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = await api.room();
    const [one, two] = [follow(t, createClient({ url }).room(room)), follow(t, createClient({ url }).room(room))];
    await Promise.all([one.next('snapshot'), two.next('snapshot')]);
    const written = await one.live.write('first', 0);
    assert.equal(written.type, 'written');
    assert.equal(written.version, 1);
    const conflict = await two.live.write('second', 0);
    assert.ok(conflict.type === 'conflict');
    assert.equal(conflict.content, 'first');
    assert.equal(conflict.version, 1);
    assert.equal((await two.next('content')).content, 'first');
  });

  it('[SDK-6] can be awaited in the loop that follows the room', async (t) => {
    const { url, api } = await sharedServer(t);
    const controller = new AbortController();
    t.after(() => controller.abort());
    const live = createClient({ url })
      .room(await api.room())
      .live({ signal: controller.signal });
    let outcome: string | undefined;
    void (async () => {
      for await (const event of live) {
        if (event.type === 'snapshot') outcome = (await live.write('hello', event.content.version)).type;
      }
    })();
    assert.equal(await eventually('the write is confirmed', () => outcome), 'written');
  });

  it('[SDK-6] that is awaited in the loop fails when its connection is lost', async (t) => {
    const { url } = await sharedServer(t);
    const live = (await createClient({ url }).createRoom()).live();
    for await (const event of live) {
      if (event.type !== 'snapshot') continue;
      const written = live.write('hello', event.content.version);
      live.interrupt();
      await assert.rejects(written, hasCode('OFFLINE'));
      await assert.rejects(live.write('hello', event.content.version), hasCode('OFFLINE'));
      break;
    }
  });

  it('[SDK-6] that is rejected fails with the reason, and the next one succeeds', async (t) => {
    const { url, api } = await startTestServer(t, { POPROOM_CONTENT_MAX: '1KiB' });
    const follower = follow(t, createClient({ url }).room(await api.room()));
    await follower.next('snapshot');
    await assert.rejects(follower.live.write('x'.repeat(1025), 0), hasCode('CONTENT_TOO_LARGE'));
    assert.equal((await follower.live.write('x', 0)).type, 'written');
  });

  it('[SDK-6] with an impossible base version is rejected immediately', async (t) => {
    const { url, api } = await sharedServer(t);
    const follower = follow(t, createClient({ url }).room(await api.room()));
    await follower.next('snapshot');
    for (const version of [-1, 0.5, Number.NaN, 2 ** 53])
      await assert.rejects(follower.live.write('x', version), TypeError);
    assert.equal((await follower.live.write('x', 0)).type, 'written');
  });

  it('[SDK-6] [SDK-3] that is rejected is not reported as the cause of a later disconnect', async (t) => {
    const { follower, proxy } = await followThroughProxy(t);
    await assert.rejects(follower.live.write('x'.repeat(1024 * 1024 + 1), 0), hasCode('CONTENT_TOO_LARGE'));
    await follower.live.write('fine', 0);
    proxy.disconnect();
    assert.equal((await follower.next('waiting')).error.code, 'OFFLINE');
    await follower.next('connected');
  });

  it('[SDK-6] fails with OFFLINE before it has joined and after it has disconnected', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = createClient({ url }).room(await api.room());
    await assert.rejects(room.live().write('hello', 0), hasCode('OFFLINE'));
    const follower = follow(t, room);
    await follower.next('snapshot');
    follower.leave();
    await follower.end;
    await assert.rejects(follower.live.write('hello', 0), hasCode('OFFLINE'));
  });

  it('[SDK-6] fails with OFFLINE while there is no connection', async (t) => {
    const { follower, proxy } = await followThroughProxy(t);
    proxy.pause();
    proxy.disconnect();
    await follower.next('waiting');
    await assert.rejects(follower.live.write('hello', 0), hasCode('OFFLINE'));
  });

  it('[SDK-6] fails with OFFLINE when its response was lost, even if it was stored', async (t) => {
    const { follower, proxy, readText } = await followThroughProxy(t);
    proxy.pauseResponses();
    const write = follower.live.write('my text', 0);
    await eventually('the write is stored', async () => (await readText()) === 'my text');
    proxy.disconnect();
    await assert.rejects(write, hasCode('OFFLINE'));
    proxy.resume();
    assert.equal((await follower.next('snapshot')).content.content, 'my text');
  });

  it('[SDK-6] fails with OFFLINE when the connection is interrupted deliberately', async (t) => {
    const { follower, proxy } = await followThroughProxy(t);
    proxy.pause();
    const write = follower.live.write('hello', 0);
    follower.live.interrupt();
    await assert.rejects(write, hasCode('OFFLINE'));
    proxy.resume();
  });
});

async function followThroughProxy(t: TestContext) {
  const server = await sharedServer(t);
  const proxy = await startTcpProxy(t, () => server.port);
  const room = await server.api.room();
  const follower = follow(t, createClient({ url: proxy.url }).room(room));
  await follower.next('snapshot');
  const readText = async () => (await server.api.get(`/api/rooms/${room}/content`)).json.content as string;
  return { follower, proxy, readText };
}

const hasCode = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
