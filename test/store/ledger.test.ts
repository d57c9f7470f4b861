/** Counters in memory: as many as there may be, and no more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ledger } from '../../src/store/sqlite/ledger.ts';

interface Count {
  count: number;
  until: number;
}

const ledgerOf = (most: number) => new Ledger<Count>('test', most, ({ until }) => until);

describe('a ledger', () => {
  it('[RUN-7] holds as many as it may, of strangers without end', () => {
    const ledger = ledgerOf(100);
    for (let n = 0; n < 10_000; n++) ledger.start(`client ${n}`, { count: n, until: 1000 });
    assert.equal(ledger.size, 100);
    assert.equal(ledger.get('client 9899', 0), undefined);
    assert.deepEqual(ledger.get('client 9900', 0), { count: 9900, until: 1000 });
  });

  it('[RUN-7] lets the oldest make way, on the disk too; one that starts anew is the youngest', () => {
    const ledger = ledgerOf(2);
    for (const key of ['first', 'second', 'first', 'third']) ledger.start(key, { count: 1, until: 1000 });
    const rows = new Map(ledger.takeDirty().map(({ key, state }) => [key, state]));
    assert.equal(rows.get('second'), null);
    assert.ok(rows.get('first') && rows.get('third'));
    assert.deepEqual(ledger.takeDirty(), []);
  });

  it('[RUN-7] drops those that are over, and tells of none that is', () => {
    const ledger = ledgerOf(10);
    ledger.start('over', { count: 1, until: 100 });
    ledger.start('going on', { count: 1, until: 200 });
    assert.equal(ledger.get('over', 100), undefined);
    ledger.dropExpired(100);
    assert.equal(ledger.size, 1);
    assert.ok(ledger.get('going on', 199));
  });
});
