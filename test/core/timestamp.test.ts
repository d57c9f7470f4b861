import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toTimestamp } from '../../src/core/timestamp.ts';

describe('a timestamp', () => {
  it('[API-10] is that of Date, for moments of all kinds in any order', () => {
    const recent = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2026, 0, 1, 0, 0, 3) });
    const any = fc.integer({ min: -8.64e15, max: 8.64e15 });
    const fractional = fc.double({ min: 0, max: 4e12, noNaN: true });
    fc.assert(
      fc.property(fc.oneof(recent, any, fractional), (moment) => {
        assert.equal(toTimestamp(moment), new Date(moment).toISOString());
      }),
      { numRuns: 5000 },
    );
    assert.throws(() => toTimestamp(Number.NaN), RangeError);
  });
});
