/** Large messages are handled in turns. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turns, WorkBudget } from '../../src/core/defence/work.ts';
import type { ClientId } from '../../src/core/ports/basics.ts';

const large = 20_000;
const [one, other] = ['one', 'other'] as ClientId[] as [ClientId, ClientId];

describe('the turns of large messages', () => {
  it('[SAFE-6] are processed one at a time, alternating between clients', async () => {
    const turns = new Turns();
    const order: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      running += 1;
      assert.equal(running, 1);
      await new Promise(setImmediate);
      order.push(name);
      running -= 1;
      return name;
    };
    const names = ['a1', 'a2', 'a3', 'b1', 'b2'];
    const done = names.map((name) => turns.run(name.startsWith('a') ? one : other, large, work(name)));
    assert.equal(turns.waiting, 4, 'all but the running one');
    assert.deepEqual(await Promise.all(done), names);
    assert.equal(turns.waiting, 0);
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('[SAFE-6] share a commit if they wait at the same time, up to 1 MiB', async () => {
    const turns = new Turns();
    const commit = Promise.withResolvers<void>();
    const started: string[] = [];
    const write = (name: string, client: ClientId, bytes: number) =>
      turns.run(client, bytes, () => {
        started.push(name);
        return commit.promise;
      });
    const done = [turns.run(one, large, () => new Promise(setImmediate))];
    done.push(
      write('a1', one, large),
      write('a2', one, 1_000_000),
      write('b1', other, 100_000),
      write('a3', one, large),
    );
    while (started.length < 2) await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.deepEqual(started, ['a1', 'b1'], 'the next one does not fit');
    commit.resolve();
    await Promise.all(done);
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'a3']);
  });

  it('[SAFE-6] [SAFE-9] end a group with a client that has used its share of the time', async () => {
    const budget = new WorkBudget(6000);
    const turns = new Turns(budget);
    const { promise, resolve } = Promise.withResolvers<void>();
    const started: string[] = [];
    const work = (name: string) => () => {
      started.push(name);
      return promise;
    };
    const first = turns.run(other, large, () => new Promise(setImmediate));
    budget.charge(one, 1000);
    const waiting = [turns.run(one, large, work('busy')), turns.run(other, large, work('next'))];
    while (started.length < 1) await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.deepEqual(started, ['busy']);
    resolve();
    await Promise.all([first, ...waiting]);
  });

  it('[SAFE-6] do not delay small messages', async () => {
    const turns = new Turns();
    const { promise, resolve } = Promise.withResolvers<void>();
    const blocked = turns.run(one, large, () => promise);
    assert.equal(await turns.run(one, 100, async () => 'small'), 'small');
    resolve();
    await blocked;
  });

  it('[SAFE-6] continue after a second if one does not end', async () => {
    const turns = new Turns();
    const { promise, resolve } = Promise.withResolvers<void>();
    const startedAt = performance.now();
    const stuck = turns.run(one, large, () => promise);
    assert.equal(await turns.run(other, large, async () => 'next'), 'next');
    const waitedMs = performance.now() - startedAt;
    assert.ok(waitedMs > 900, `the next turn began after ${waitedMs} ms`);
    resolve();
    await stuck;
  });

  it('[SAFE-6] continue after one that failed', async () => {
    const turns = new Turns();
    const failing = turns.run(one, large, async () => Promise.reject(new Error('no')));
    const next = turns.run(one, large, async () => 'next');
    await assert.rejects(failing, /no/);
    assert.equal(await next, 'next');
    assert.equal(await turns.run(other, large, async () => 'later'), 'later');
  });
});
