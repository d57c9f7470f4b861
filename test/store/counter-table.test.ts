/** Counters in memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CounterBudget } from '../../src/store/client-counters.ts';
import { CounterTable } from '../../src/store/sqlite/clients.ts';

interface Count {
  count: number;
  until: number;
}

const newTable = () => new CounterTable<Count>('test', ({ until }) => until);

describe('a counter table', () => {
  it('[GUESS-8] drops the oldest counters that may be dropped, on disk too, and none that must stay', () => {
    const table = newTable();
    const mayDrop = ({ count }: Count) => count === 0;
    for (const [key, count] of Object.entries({ first: 1, second: 0, third: 2, fourth: 0 })) {
      table.start(key, { count, until: 1000 });
    }
    assert.deepEqual(
      Array.from({ length: 3 }, () => table.dropOldest(mayDrop)),
      [true, true, false],
    );
    const rows = new Map(table.takeDirty().map(({ key, state }) => [key, state !== null]));
    assert.deepEqual(Object.fromEntries(rows), { first: true, second: false, third: true, fourth: false });
    assert.deepEqual(table.takeDirty(), []);
  });

  it('[GUESS-8] checks a few counters at a time, and continues where it stopped', () => {
    const table = newTable();
    for (let n = 0; n < 100; n++) table.start(`kept ${n}`, { count: 1, until: 1000 });
    table.start('idle', { count: 0, until: 1000 });
    let looked = 0;
    const mayDrop = ({ count }: Count) => {
      looked += 1;
      return count === 0;
    };
    let calls = 1;
    while (!table.dropOldest(mayDrop)) calls += 1;
    assert.ok(looked <= 101 + calls && looked / calls < 20, `${looked} looks in ${calls} calls`);
    assert.equal(table.size, 100);
  });

  it('[RUN-7] drops expired counters, and returns none of them', () => {
    const table = newTable();
    table.start('over', { count: 1, until: 100 });
    table.start('going on', { count: 1, until: 200 });
    assert.equal(table.get('over', 100), undefined);
    table.dropExpired(100);
    assert.equal(table.size, 1);
    assert.ok(table.get('going on', 199));
  });
});

describe('a budget of counters', () => {
  it('[GUESS-8] is bounded, for any number of clients and networks', () => {
    const budget = new CounterBudget({ windowMs: 1000, countersPerWindow: 500 });
    const keys = new Set<string>();
    for (let n = 0; n < 100_000; n++) {
      const client = `${n.toString(16)}:${n % 7}:0:0::/64`;
      const key = budget.keyFor(client, 0);
      budget.noteStart(key, client);
      keys.add(key);
    }
    assert.equal(keys.size, 500 + 65_536 + 1);
    assert.ok(keys.has('shared:*'));
  });

  it('[GUESS-8] starts again after its window, and when the clock is set back', () => {
    for (const later of [1000, -1]) {
      const budget = new CounterBudget({ windowMs: 1000, countersPerWindow: 10 });
      const client = '10.0.0.1';
      assert.equal(budget.keyFor(client, 0), client);
      budget.noteStart(client, client);
      assert.equal(budget.keyFor('10.0.0.2', 999), 'shared:10.0');
      assert.equal(budget.keyFor('10.0.0.2', later), '10.0.0.2');
    }
  });
});
