/** The budget for the CPU time of clients. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Turns, WorkBudget } from '../../src/core/defence/work.ts';
import type { PoproomError } from '../../src/core/errors.ts';
import type { ClientId } from '../../src/core/ports/basics.ts';

const [one, other] = ['one', 'other'] as ClientId[] as [ClientId, ClientId];

describe('the work budget', () => {
  it('[SAFE-9] counts work by client, and forgets it within a minute', (t) => {
    const clock = mockClock(t);
    const budget = new WorkBudget(6000);
    assert.equal(
      budget.measure(one, () => clock.advance(40)),
      40,
    );
    assert.throws(() => budget.measure(one, () => assert.fail(`after ${clock.advance(20)}`)));
    assert.equal(budget.total, 60);
    clock.advance(280);
    assert.deepEqual([Math.round(budget.spentBy(one)), budget.spentBy(other)], [30, 0]);
    clock.advance(60_000);
    assert.equal(budget.spentBy(one), 0);
  });

  it('[SAFE-9] lets clients wait that are over the limit, and refuses them after two seconds', async () => {
    const budget = new WorkBudget(6000);
    const startedAt = performance.now();
    budget.charge(one, 6010);
    assert.equal(budget.admit(other), undefined);
    await budget.admit(one);
    assert.ok(performance.now() - startedAt >= 90);
    budget.charge(one, 1000);
    await assert.rejects(budget.admit(one) as Promise<void>, ({ code, details, retryAfter = 0 }: PoproomError) => {
      assert.deepEqual([code, details], ['RATE_LIMITED', { reason: 'work', retryAfter }]);
      assert.ok(retryAfter > 1 && retryAfter <= 8, `${retryAfter} s`);
      return true;
    });
  });

  it('[SAFE-9] can be disabled', (t) => {
    const clock = mockClock(t);
    const budget = new WorkBudget(0);
    budget.measure(one, () => clock.advance(1_000_000));
    assert.deepEqual([budget.admit(one), budget.isBusy(one), budget.total], [undefined, false, 1_000_000]);
  });

  it('[SAFE-9] remembers a limited number of clients, and those with much work', (t) => {
    const clock = mockClock(t);
    const budget = new WorkBudget(6000);
    for (let n = 0; n < 20_100; n++) budget.charge(`client-${n}` as ClientId, 10);
    assert.ok(budget.spentBy('client-20099' as ClientId) > 0);
    assert.equal(budget.spentBy('client-0' as ClientId), 0);
    clock.advance(1000);
    budget.charge(one, 6000);
    clock.advance(5000);
    budget.charge(other, 1);
    assert.ok(budget.spentBy(one) > 5000);
  });

  it('[SAFE-9] makes the small messages of a busy client take turns that leave half of the time to others', async () => {
    const budget = new WorkBudget(6000);
    const turns = new Turns(budget);
    // Its share is 100 ms per second.
    budget.charge(one, 200);
    assert.ok(budget.isBusy(one) && !budget.isBusy(other));
    const startedAt = performance.now();
    let running = 0;
    const work = async () => {
      running += 1;
      assert.equal(running, 1);
      budget.charge(one, 20);
      await new Promise(setImmediate);
      running -= 1;
    };
    const all = Promise.all(Array.from({ length: 5 }, () => turns.run(one, 10, work)));
    assert.equal(await turns.run(other, 10, async () => 'immediately'), 'immediately');
    assert.equal(turns.waiting, 4);
    await all;
    assert.ok(performance.now() - startedAt >= 150, 'four pauses of 40 ms');
  });
});

/** Time passes only in steps. */
function mockClock(t: TestContext) {
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  return {
    advance(ms: number): number {
      now += ms;
      return ms;
    },
  };
}
