/** The counter of requests. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Quota, Spending } from '../../src/core/ports/clients.ts';
import type { AccessAttempt } from '../../src/core/ports/rooms.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  accessAttempt,
  createRoom,
  hour,
  mac,
  newClient,
  type OpenStore,
  second,
  sharedStore,
  start,
  unknownCode,
} from './store-under-test.ts';

const free: Quota = { tier: 'free', limit: 100, windowMs: hour };
const three: Quota = { ...free, limit: 3 };

export function rateTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[RATE-2] grants exactly the limit, and reports the remainder', async () => {
    const client = newClient();
    const resetAt = start + hour;
    assert.deepEqual(await store.rates.take(client, three, start), { granted: true, remaining: 2, resetAt });
    assert.deepEqual(await store.rates.take(client, three, start), { granted: true, remaining: 1, resetAt });
    assert.deepEqual(await store.rates.take(client, three, start), { granted: true, remaining: 0, resetAt });
    assert.deepEqual(await store.rates.take(client, three, start), { granted: false, remaining: 0, resetAt });
  });

  it('[RATE-2] grants exactly 100 of 300 concurrent requests', async () => {
    const client = newClient();
    const taken = await Promise.all(Array.from({ length: 300 }, () => store.rates.take(client, free, start)));
    const granted = taken.filter((allowance) => allowance.granted);
    assert.equal(granted.length, 100);
    assert.equal(new Set(granted.map(({ remaining }) => remaining)).size, 100);
  });

  it('[RATE-1] starts the hour with the first request and resets when it ends', async () => {
    const client = newClient();
    for (const later of [0, second, 2 * second]) await store.rates.take(client, three, start + later);
    const refused = await store.rates.take(client, three, start + hour - 1);
    assert.deepEqual(refused, { granted: false, remaining: 0, resetAt: start + hour });
    const renewed = await store.rates.take(client, three, start + hour);
    assert.deepEqual(renewed, { granted: true, remaining: 2, resetAt: start + 2 * hour });
  });

  it('[RATE-2] grants exactly the limit again to a burst at the end of the hour', async () => {
    const client = newClient();
    await Promise.all(Array.from({ length: 300 }, () => store.rates.take(client, free, start)));
    const taken = await Promise.all(Array.from({ length: 300 }, () => store.rates.take(client, free, start + hour)));
    assert.equal(taken.filter(({ granted }) => granted).length, 100);
  });

  it('[RATE-2] does not extend the wait of a client that keeps sending', async () => {
    const client = newClient();
    for (let n = 0; n < 50; n++) {
      const { resetAt } = await store.rates.take(client, three, start + n * second);
      assert.equal(resetAt, start + hour);
    }
  });

  it('[CLIENT-1] counts each client separately', async () => {
    const [one, other] = [newClient(), newClient()];
    for (let n = 0; n < 4; n++) await store.rates.take(one, three, start);
    assert.equal((await store.rates.take(other, three, start)).remaining, 2);
  });

  it('[RATE-4] reports the remainder without using any of it', async () => {
    const client = newClient();
    const look = async (now: number) => {
      const { remaining, resetAt } = await store.rates.peek(client, three, now);
      return { remaining, resetAt };
    };
    assert.deepEqual(await look(start), { remaining: 3, resetAt: start + hour });
    await store.rates.take(client, three, start + second);
    for (let n = 0; n < 5; n++)
      assert.deepEqual(await look(start + second), { remaining: 2, resetAt: start + second + hour });
    assert.deepEqual(await look(start + second + hour), { remaining: 3, resetAt: start + second + 2 * hour });
  });

  it('[NODE-25] counts a request with its access to a room, exactly and once', async () => {
    const { rooms, rates } = store;
    const code = await createRoom(rooms);
    const client = newClient();
    const read = async (over: Partial<AccessAttempt> = {}) => {
      const spending: Spending = { client, quota: three, now: start };
      const { outcome } = await rooms.read(accessAttempt(code, { client, spending, ...over }));
      return { outcome, spending, remaining: (await spending.counted)?.remaining };
    };
    const first = await read();
    if (!rates.countsWithAccess) return assert.equal(first.spending.counted, undefined);
    assert.deepEqual([first.outcome, first.remaining], ['admitted', 2]);
    assert.equal((await read({ spending: first.spending })).outcome, 'admitted', 'it is counted already');
    const several = await Promise.all(Array.from({ length: 10 }, () => read()));
    const granted = several.filter(({ outcome }) => outcome === 'admitted');
    assert.deepEqual(
      granted.map(({ remaining }) => remaining),
      [1, 0],
    );
    assert.ok(several.every(({ outcome }) => outcome === 'admitted' || outcome === 'over-limit'));
    assert.equal((await rates.peek(client, three, start)).remaining, 0);
  });

  it('[NODE-25] checks nothing for a request over the limit: no PIN, no code and no device', async () => {
    const { rooms, rates } = store;
    if (!rates.countsWithAccess) return;
    const code = await createRoom(rooms, { pinMac: mac('0427') });
    const client = newClient();
    const access = async (to: RoomCode, over: Partial<AccessAttempt>) => {
      const spending = { client, quota: { ...free, limit: 0 }, now: start };
      return (await rooms.admit(accessAttempt(to, { client, spending, ...over }))).outcome;
    };
    for (let n = 0; n < 30; n++) {
      assert.equal(await access(code, { pinMac: mac('9999') }), 'over-limit');
      assert.equal(await access(unknownCode(), {}), 'over-limit');
      assert.equal(await access(code, { pinMac: mac('0427'), deviceId: 'phone' }), 'over-limit');
    }
    assert.deepEqual(await rooms.listDevices(code, start), []);
    const guess = await rooms.admit(accessAttempt(code, { client, pinMac: mac('9999') }));
    assert.deepEqual(guess, { outcome: 'pin-incorrect', triesLeft: 4, lockedUntil: undefined });
  });
}
