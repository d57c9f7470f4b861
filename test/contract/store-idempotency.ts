/** Requests with idempotency keys: each runs once, on one node at a time, and its result is kept. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { RequestKey } from '../../src/core/ports.ts';
import { day, type OpenStore, ownStore, second, sharedStore, start } from './store-under-test.ts';

const lease = 60 * second;
const newKey = (client = randomBytes(6).toString('hex')): RequestKey => ({
  client,
  key: randomBytes(32).toString('hex'),
});
const request = { fingerprint: 'f'.repeat(64), result: 'c2VhbGVk+/==' };
const limits = { expiresAt: start + day, perClient: 3 };
const started = { state: 'started' } as const;
const running = { state: 'running' } as const;
const finished = { state: 'finished', request } as const;

export function idempotencyTests(open: OpenStore): void {
  describe('a request with a key', () => {
    const store = sharedStore(open);

    it('[IDEM-1] is started for one of 20 concurrent callers, and finished for all after it', async () => {
      const { idempotency } = store;
      const key = newKey();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) => idempotency.begin(key, `r${n}`, start, lease)),
      );
      const winner = outcomes.findIndex(({ state }) => state === 'started');
      assert.deepEqual(outcomes.toSpliced(winner, 1), Array(19).fill(running));
      await idempotency.finish(key, `r${winner}`, request, limits);
      assert.deepEqual(await idempotency.begin(key, 'later', start, lease), finished);
      assert.deepEqual(await idempotency.begin(key, 'later', start + day - 1, lease), finished);
      assert.deepEqual(await idempotency.begin(key, 'later', start + day, lease), started);
    });

    it('[IDEM-1] can be sent again after it failed', async () => {
      const { idempotency } = store;
      const key = newKey();
      await idempotency.begin(key, 'one', start, lease);
      await idempotency.abandon(key, 'other');
      await idempotency.renew(key, 'other', start, lease);
      assert.deepEqual(await idempotency.begin(key, 'two', start, lease), running, 'only its runner may end it');
      await idempotency.abandon(key, 'one');
      assert.deepEqual(await idempotency.begin(key, 'two', start, lease), started);
    });

    it('[IDEM-2] is independent of other clients and keys', async () => {
      const { idempotency } = store;
      const key = newKey();
      await idempotency.begin(key, 'one', start, lease);
      await idempotency.finish(key, 'one', request, limits);
      for (const other of [newKey(), newKey(key.client)]) {
        assert.deepEqual(await idempotency.begin(other, 'one', start, lease), started);
      }
    });

    it('[IDEM-4] replaces the oldest of its client when there are too many, and of nobody else', async () => {
      const { idempotency } = store;
      const other = newKey();
      await idempotency.finish(other, 'one', request, limits);
      const { client } = newKey();
      const keys = Array.from({ length: 5 }, () => newKey(client));
      for (const [n, key] of keys.entries()) {
        await idempotency.finish(key, 'one', request, { ...limits, expiresAt: start + day + n });
      }
      const outcomes = await Promise.all(keys.map((key) => idempotency.begin(key, 'two', start, lease)));
      assert.deepEqual(outcomes, [started, started, finished, finished, finished]);
      assert.deepEqual(await idempotency.begin(other, 'two', start, lease), finished);
    });
  });

  it('[IDEM-1] is kept over a restart', async (t) => {
    const under = await ownStore(t, open);
    const key = newKey();
    await under.store.idempotency.begin(key, 'one', start, lease);
    await under.store.idempotency.finish(key, 'one', request, limits);
    const reopened = await under.reopen(start);
    assert.deepEqual(await reopened.idempotency.begin(key, 'two', start, lease), finished);
  });
}
