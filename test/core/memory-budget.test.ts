/** The memory that clients may use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryBudget } from '../../src/core/memory-budget.ts';
import type { ClientId } from '../../src/core/ports.ts';

const [one, two, three] = ['one', 'two', 'three'] as ClientId[] as [ClientId, ClientId, ClientId];

describe('the memory budget', () => {
  it('[SAFE-5] bounds each client, and all of them together', () => {
    const budget = new MemoryBudget({ perClient: 10, total: 15 });
    assert.ok(budget.take(one, 10));
    assert.ok(!budget.take(one, 1));
    assert.ok(!budget.take(two, 6));
    assert.ok(budget.take(two, 5));
    assert.ok(!budget.take(three, 1));
    budget.release(one, 10);
    assert.ok(budget.take(three, 10));
    budget.release(two, 5);
    budget.release(three, 10);
    assert.equal(budget.total, 0);
  });
});
