/** Why a live channel of the SDK ends, and writing through it. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, type LiveEvent, type LiveRoom, type NewRoom, PoproomError } from '../../src/client/index.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

const hasCode = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
const kinds: NewRoom[] = [{ pin: '0427' }, { encrypted: true }];

/** Follows a room as most programs do, in a loop that does not show its return value. */
async function loop(live: LiveRoom, onSnapshot: () => unknown): Promise<LiveEvent['type'][]> {
  const types: LiveEvent['type'][] = [];
  for await (const { type } of live) {
    types.push(type);
    if (type === 'snapshot' && (await onSnapshot()) === 'break') break;
  }
  return types;
}

describe('the end of a live channel', () => {
  it('[SDK-31] is `left` if the program leaves, by `break` or by its signal', async (t) => {
    const { url } = await sharedServer(t);
    for (const kind of kinds) {
      const room = await createClient({ url }).createRoom(kind);
      const live = room.live();
      await loop(live, () => 'break');
      assert.deepEqual(await live.ended, { reason: 'left' });
      const leaving = new AbortController();
      const aborted = room.live({ signal: leaving.signal });
      await loop(aborted, () => leaving.abort());
      assert.deepEqual(await aborted.ended, { reason: 'left' });
    }
  });

  it('[SDK-31] is that of the loop that runs now, if there are several', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom();
    const live = room.live();
    await loop(live, () => 'break');
    const first = live.ended;
    await loop(live, () => room.delete());
    assert.deepEqual([await first, await live.ended], [{ reason: 'left' }, { reason: 'deleted' }]);
  });

  it('[SDK-31] is `deleted` or `expired` if the room has ended, also while the connection was lost', async (t) => {
    const server = await startTestServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const direct = createClient({ url: server.url });
    for (const reason of ['deleted', 'expired'] as const) {
      const { code } = await direct.createRoom({ expiresIn: 600 });
      const end = () => (reason === 'deleted' ? direct.room(code).delete() : server.clock.advance(700_000));
      const connected = direct.room(code).live();
      const lost = follow(t, createClient({ url: proxy.url }).room(code));
      lost.end.catch(() => undefined);
      await lost.next('snapshot');
      await loop(connected, async () => {
        proxy.pause();
        proxy.disconnect();
        await lost.next('waiting');
        await end();
      });
      assert.deepEqual(await connected.ended, { reason });
      proxy.resume();
      lost.live.wake();
      const { reason: later, error } = await lost.live.ended;
      assert.equal(later, reason);
      assert.equal(error?.code, reason === 'deleted' ? 'ROOM_NOT_FOUND' : 'ROOM_EXPIRED');
    }
  });

  it('[SDK-31] is `refused` with the error, if the server does not admit the client', async (t) => {
    const { url } = await sharedServer(t);
    const client = createClient({ url });
    const { code } = await client.createRoom({ pin: '0427' });
    for (const [room, refusal] of [
      [client.room(code), 'PIN_REQUIRED'],
      [client.room(code, { pin: '0000' }), 'PIN_INCORRECT'],
      [client.room('ZZZZZZ'), 'ROOM_NOT_FOUND'],
    ] as const) {
      const live = room.live();
      await assert.rejects(
        loop(live, () => undefined),
        hasCode(refusal),
      );
      const { reason, error } = await live.ended;
      assert.deepEqual([reason, error?.code], ['refused', refusal]);
    }
  });

  it('[SDK-31] is `pin-changed` if the PIN was changed, and the channel is lost after that', async (t) => {
    const { url } = await sharedServer(t);
    const client = createClient({ url });
    const { code } = await client.createRoom({ pin: '0427' });
    const follower = follow(t, client.room(code, { pin: '0427' }));
    follower.end.catch(() => undefined);
    await follower.next('snapshot');
    await client.room(code, { pin: '0427' }).update({ pin: '1234' });
    await follower.next('room');
    follower.live.interrupt();
    await follower.next('waiting');
    follower.live.wake();
    const { reason, error } = await follower.live.ended;
    assert.deepEqual([reason, error?.code], ['pin-changed', 'PIN_REQUIRED']);
  });
});

describe('a write on a live channel', () => {
  it('[SDK-25] takes the options of room.write, and fails as it does', async (t) => {
    const { url } = await sharedServer(t);
    for (const kind of kinds) {
      const room = await createClient({ url }).createRoom(kind);
      const { live, next } = follow(t, room);
      await next('snapshot');
      const first = await live.write('one', { baseVersion: 0 });
      assert.deepEqual([first.content, first.version], ['one', 1]);
      assert.ok(Date.parse(first.timestamp) > 0);
      const error = await live.write('two', { baseVersion: 0 }).catch((failed) => failed);
      assert.ok(error instanceof PoproomError && error.code === 'VERSION_CONFLICT');
      assert.deepEqual([error.details.version, error.details.content], [1, 'one']);
      // By another program, so that the channel does not have this version yet.
      await room.write('three');
      assert.equal((await live.write('four')).version, 3);
      assert.equal((await room.read()).content, 'four');
      const answer = await live.write('five', 3);
      assert.equal(answer.type, 'written', 'the earlier form');
    }
  });

  it('[SDK-25] whose conflict has a long text contains that text', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom();
    const { live, next } = follow(t, room);
    await next('snapshot');
    const long = 'x'.repeat(10_000);
    await room.write(long);
    await next('content');
    const error = await live.write('two', { baseVersion: 0 }).catch((failed) => failed);
    assert.ok(error instanceof PoproomError && error.code === 'VERSION_CONFLICT');
    assert.equal(error.details.content, long);
  });

  it('[SDK-29] that is too fast fails with RATE_LIMITED and the wait, and the channel reconnects', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom();
    const { live, next } = follow(t, room);
    await next('snapshot');
    const writes = Array.from({ length: 300 }, (_, n) => live.write(String(n), n).catch((error) => error));
    const limited = (await Promise.all(writes)).filter(hasCode('RATE_LIMITED')) as PoproomError[];
    assert.ok(limited.length > 0);
    for (const { retryAfter, details } of limited) assert.deepEqual([retryAfter, details.reason], [2, 'messages']);
    const { error } = await next('waiting');
    assert.equal(error.code, 'RATE_LIMITED');
    live.wake();
    await next('connected');
  });
});

describe('a request beyond the limit', () => {
  it('[SDK-29] is RATE_LIMITED with the wait, also of a large upload', async (t: TestContext) => {
    const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const room = await createClient({ url }).createRoom();
    const large = new Blob([new Uint8Array(4_000_000)]);
    for (const source of [large, large.stream()]) {
      const error = await room.upload(source, { name: 'x' }).catch((failed) => failed);
      assert.ok(error instanceof PoproomError && error.code === 'RATE_LIMITED', String(error));
      assert.ok((error.retryAfter ?? 0) > 3000);
      assert.deepEqual([error.details.reason, error.status], ['requests', 429]);
    }
  });
});
