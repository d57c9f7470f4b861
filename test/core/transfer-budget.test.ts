/** Budgets that transfers share, and which transfers end when one is used up. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BudgetLimits, type Transfer, TransferBudget } from '../../src/core/defence/transfer-budget.ts';
import type { ClientId } from '../../src/core/ports/basics.ts';

const KiB = 1024;

function startBudget(limits: BudgetLimits) {
  let now = 0;
  const ended: string[] = [];
  const budget = new TransferBudget(limits, () => now);
  const open: { transfer: Transfer; source: { client: ClientId | undefined; bytes: number } }[] = [];

  /** A transfer that holds an amount, if there is room. `bytes` is what it has transferred. */
  function begin(name: string, amount: number, client: ClientId | undefined = name.slice(0, 1)) {
    const source = { client, bytes: 0 };
    const transfer = budget.start({ client, progress: () => source.bytes, end: () => void ended.push(name) });
    const isTaken = transfer.take(amount);
    if (isTaken) open.push({ transfer, source });
    return { isTaken, transfer, source };
  }

  return {
    budget,
    ended,
    begin,
    /** Time passes, while each transfer makes progress at its own rate. */
    pass(seconds: number, bytesPerSecond: (client: ClientId | undefined) => number) {
      now += seconds * 1000;
      for (const { source } of open) source.bytes += seconds * bytesPerSecond(source.client);
    },
  };
}

describe('a budget of transfers', () => {
  it('[TRANSFER-1] grants a client its maximum while it is alone, and a share of what is free otherwise', () => {
    const { budget, begin } = startBudget({ perClient: 16, total: 48 });
    const alone = begin('a1', 16);
    assert.ok(alone.isTaken);
    assert.ok(!begin('a2', 1).isTaken);
    // Half of what remains free: 32 - 10 = 22, and 10 is less than half of it. 11 would be more.
    assert.ok(!begin('b1', 11).isTaken);
    assert.ok(begin('b2', 10).isTaken);
    assert.ok(begin('c1', 7).isTaken);
    assert.ok(begin('d1', 5).isTaken, 'there is always some room for another client');
    alone.transfer.close();
    assert.ok(begin('e1', 8).isTaken);
    assert.equal(budget.total, 10 + 7 + 5 + 8);
  });

  it('[TRANSFER-1] limits the connections of a proxy only in total', () => {
    const { budget } = startBudget({ perClient: 2, total: 8 });
    const proxy = () => budget.start({ client: undefined, progress: () => 0, end: () => undefined });
    const taken = Array.from({ length: 9 }, () => proxy().take(1));
    assert.deepEqual(taken, [...Array(8).fill(true), false]);
  });

  it('[TRANSFER-2] refuses the newest transfer while no other is slow', () => {
    const { begin, ended, pass } = startBudget({ perClient: 40, total: 80 });
    for (const name of ['a1', 'b1', 'c1']) assert.ok(begin(name, 20).isTaken);
    assert.ok(!begin('d1', 20).isTaken, 'the others are too young for a measurement');
    pass(9.9, () => 0);
    assert.ok(!begin('d2', 20).isTaken, 'they still are');
    pass(20, () => 20 * KiB);
    assert.ok(!begin('d3', 20).isTaken, 'they are fast enough');
    assert.deepEqual(ended, []);
  });

  it('[TRANSFER-2] ends the slowest transfers, only as many as necessary, and releases what they held', () => {
    const { begin, ended, pass, budget } = startBudget({ perClient: 60, total: 120 });
    for (const name of ['a1', 'b1', 'c1', 's1']) assert.ok(begin(name, name === 's1' ? 10 : 30).isTaken);
    pass(20, (client) => (client === 'a' ? 20 * KiB : client === 'b' ? 3 * KiB : client === 's' ? 5 * KiB : 9 * KiB));
    assert.ok(begin('d1', 20).isTaken);
    assert.deepEqual(ended, ['b1']);
    assert.equal(budget.total, 30 + 30 + 10 + 20);
    pass(2, () => 0);
    assert.ok(!begin('e1', 40).isTaken, 'the others are fast or young');
    assert.deepEqual(ended, ['b1'], 'a slow one that is not enough does not end in vain');
  });

  it('[TRANSFER-2] measures the last ten seconds, not the average', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { begin, ended, pass } = startBudget({ perClient: 30, total: 60 });
    const burst = begin('a1', 29);
    burst.source.bytes = 100_000 * KiB;
    begin('b1', 10);
    for (let seconds = 0; seconds < 20; seconds += 5) {
      pass(5, (client) => (client === 'a' ? 0 : 9 * KiB));
      t.mock.timers.tick(5000);
    }
    assert.ok(begin('c1', 20).isTaken);
    assert.deepEqual(ended, ['a1']);
  });

  it('[TRANSFER-2] does not end a transfer of 9 KiB per second whose bytes the system takes in large steps', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { begin, ended, pass } = startBudget({ perClient: 30, total: 60 });
    const steps = begin('a1', 29);
    begin('b1', 10);
    for (let seconds = 5; seconds <= 100; seconds += 5) {
      pass(5, (client) => (client === 'a' ? 0 : 9 * KiB));
      if (seconds % 40 === 0) steps.source.bytes += 40 * 9 * KiB;
      t.mock.timers.tick(5000);
      if (seconds > 45) assert.ok(!begin('c1', 20).isTaken, `after ${seconds} seconds`);
    }
    assert.deepEqual(ended, []);
  });

  it('[TRANSFER-2] ends slow transfers of the same client if it has reached its own maximum', () => {
    const { begin, ended, pass } = startBudget({ perClient: 16, total: 48 });
    begin('a1', 7);
    begin('a2', 7);
    begin('b1', 1);
    pass(20, (client) => (client === 'a' ? 1 * KiB : 0));
    assert.ok(begin('a3', 7).isTaken);
    assert.deepEqual(ended, ['a1']);
  });

  it('[TRANSFER-2] among equally slow transfers ends those of the client that holds the most', () => {
    const { begin, ended, pass } = startBudget({ perClient: 40, total: 80 });
    begin('a1', 10);
    for (let n = 1; n <= 4; n++) begin(`b${n}`, 8);
    begin('c1', 16);
    pass(20, () => 100);
    assert.ok(begin('d1', 20).isTaken);
    assert.ok(ended.length > 0 && ended.every((name) => name.startsWith('b')), String(ended));
  });

  it('[TRANSFER-2] does not end what is kept, such as a complete body or a live channel', () => {
    const { begin, ended, pass } = startBudget({ perClient: 40, total: 80 });
    const kept = begin('a1', 40);
    kept.transfer.keep();
    pass(60, () => 0);
    assert.ok(!begin('b1', 40).isTaken);
    assert.deepEqual(ended, []);
    kept.transfer.close();
    assert.ok(begin('b2', 40).isTaken);
  });
});
