/** The states of the SDK's live channel: what wake, interrupt, rename and leaving do in each of them. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { offlineError, PoproomError } from '../../src/client/error.ts';
import { createClient, type Ended, type LiveEvent } from '../../src/client/index.ts';
import { spreadDelay } from '../../src/client/retry.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

type Next = IteratorResult<LiveEvent, Ended>;

describe('a live channel', () => {
  it('[SDK-3] that is idle ignores wake and interrupt, and joins with the latest name', async (t) => {
    const { live, events } = await openChannel(t);
    live.wake();
    live.interrupt();
    live.rename('New');
    assert.deepEqual(await types(events, 2), ['connecting', 'connected']);
    const snapshot = (await events.next()).value as Extract<LiveEvent, { type: 'snapshot' }>;
    assert.deepEqual(snapshot.devices, [{ deviceId: 'one', deviceName: 'New' }]);
  });

  it('[SDK-3] that is about to connect applies a new name without another attempt', async (t) => {
    const { live, events } = await openChannel(t);
    assert.deepEqual(await types(events, 1), ['connecting']);
    live.rename('New');
    assert.deepEqual(await types(events, 2), ['connected', 'snapshot']);
  });

  it('[SDK-3] that is connecting ignores interrupt', async (t) => {
    const { live, events } = await openChannel(t);
    await events.next();
    const next = events.next();
    live.interrupt();
    assert.deepEqual((await next).value, { type: 'connected' });
  });

  it('[SDK-3] that is connecting starts another attempt when it is woken', async (t) => {
    const { live, events } = await openChannel(t);
    await events.next();
    const next = events.next();
    live.wake();
    assertImmediate(await next);
    assert.deepEqual(await types(events, 3), ['connecting', 'connected', 'snapshot']);
  });

  it('[SDK-3] that is open stays open when it is woken', async (t) => {
    const { live, events, write } = await joinChannel(t);
    live.wake();
    await write('still here');
    const { value } = await events.next();
    assert.ok(value && typeof value === 'object' && value.type === 'content');
    assert.equal(value.content, 'still here');
  });

  it('[SDK-3] that was interrupted waits, and connects when it is woken', async (t) => {
    const { live, events } = await joinChannel(t);
    const interruptedAt = Date.now();
    live.interrupt();
    const { value } = await events.next();
    assert.ok(value && typeof value === 'object' && value.type === 'waiting');
    assert.ok(value.until.getTime() >= interruptedAt + 250);
    assert.equal(value.error.code, 'OFFLINE');
    live.wake();
    assert.deepEqual(await types(events, 2), ['connecting', 'connected']);
  });

  it('[SDK-3] that is woken before its program has read the interruption event connects without a delay', async (t) => {
    const { live, events } = await joinChannel(t);
    live.interrupt();
    live.wake();
    assertImmediate(await events.next());
    assert.deepEqual(await types(events, 2), ['connecting', 'connected']);
  });

  it('[LIVE-29] that was lost waits for a part of the time that the server wants', async (t) => {
    const server = await startTestServer(t, {}, { heartbeatMs: 250, reconnectsPerSecond: 0.01 });
    const { live, events } = await joinChannel(t, server);
    const usualMs = 500;
    // Until the heartbeat has arrived, and the part is not short by chance.
    await eventually('it waits for longer than usual', async () => {
      live.interrupt();
      const { value } = await events.next();
      assert.ok(value && typeof value === 'object' && value.type === 'waiting');
      const waitsMs = value.until.getTime() - Date.now();
      assert.ok(waitsMs <= 30_000);
      live.wake();
      assert.deepEqual(await types(events, 3), ['connecting', 'connected', 'devices']);
      return waitsMs > usualMs;
    });
  });

  it('[LIVE-29] spreads attempts evenly, and never waits for longer than 30 seconds', () => {
    const anySpread = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    const anyAttempt = fc.property(anySpread, fc.integer({ min: 0, max: 50 }), (spreadMs, failures) => {
      const ms = spreadDelay(offlineError(), failures, spreadMs);
      assert.ok(ms >= 250 && ms <= 30_000, `${ms} ms`);
      const requested = new PoproomError('UNAVAILABLE', 'Later.', { retryAfter: 2 });
      assert.equal(spreadDelay(requested, failures, spreadMs), 2000);
    });
    fc.assert(anyAttempt, { seed: 1 });
    const delays = Array.from({ length: 1000 }, () => spreadDelay(offlineError(), 0, 10_000));
    for (let second = 1; second < 10; second++) {
      const within = delays.filter((ms) => ms >= second * 1000 && ms < (second + 1) * 1000).length;
      assert.ok(within > 40 && within < 200, `${within} of 1000 in second ${second}`);
    }
  });

  it('[SDK-4] ends when its program leaves, whether it is disconnected or waiting', async (t) => {
    for (const moment of ['disconnected', 'waiting']) {
      const { live, events, leave } = await joinChannel(t);
      live.interrupt();
      if (moment === 'waiting') assert.deepEqual(await types(events, 1), ['waiting']);
      const next = moment === 'waiting' ? events.next() : undefined;
      leave();
      assert.deepEqual(await (next ?? events.next()), { done: true, value: 'left' }, moment);
    }
  });

  it('[SDK-4] that has ended ignores wake, interrupt and rename', async (t) => {
    const { live, events, leave } = await joinChannel(t);
    leave();
    assert.deepEqual(await events.next(), { done: true, value: 'left' });
    live.wake();
    live.interrupt();
    live.rename('New');
    await assert.rejects(live.write('hello', 0), { code: 'OFFLINE' });
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  });

  it('[SDK-3] that is iterated twice opens two channels', async (t) => {
    const { live, events, write } = await joinChannel(t);
    const others = live[Symbol.asyncIterator]();
    t.after(() => others.return('left'));
    assert.deepEqual(await types(others, 3), ['connecting', 'connected', 'snapshot']);
    await write('for both');
    for (const each of [events, others]) assert.deepEqual(await types(each, 1), ['content']);
  });
});

async function openChannel(t: TestContext, server?: TestServer) {
  const { url, api } = server ?? (await sharedServer(t));
  const code = await api.room();
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const live = createClient({ url, deviceId: 'one', deviceName: 'Old' }).room(code).live({ signal: leaving.signal });
  return {
    live,
    events: live[Symbol.asyncIterator](),
    leave: () => leaving.abort(),
    write: (content: string) => api.post(`/api/rooms/${code}/content`, { json: { content } }),
  };
}

async function joinChannel(t: TestContext, server?: TestServer) {
  const channel = await openChannel(t, server);
  assert.deepEqual(await types(channel.events, 3), ['connecting', 'connected', 'snapshot']);
  return channel;
}

/** The types of the next events, one after the other. */
async function types(events: AsyncGenerator<LiveEvent, Ended>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { done, value } = await events.next();
    if (done) assert.fail(`The channel ended: ${value}`);
    found.push(value.type);
  }
  return found;
}

/** The channel is disconnected, and the next attempt starts now. */
function assertImmediate({ value }: Next): void {
  assert.ok(value && typeof value === 'object' && value.type === 'waiting');
  assert.ok(value.until.getTime() <= Date.now());
}
