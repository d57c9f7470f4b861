/** JSON that is rejected before it is parsed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasMoreValues, maxRequestValues } from '../../src/protocol/json-values.ts';

const isTooMuch = (json: string) => hasMoreValues(json, maxRequestValues);

describe('the number of values in JSON', () => {
  it('[SAFE-3] is within bounds in the largest valid messages', () => {
    const edits = Array.from({ length: 1000 }, (_, n) => ({ from: n, to: n, insert: '{[,:"\\' }));
    assert.ok(!isTooMuch(JSON.stringify({ type: 'edit', baseVersion: 1, edits, ref: 'x', pin: '0427' })));
    assert.ok(!isTooMuch(JSON.stringify({ content: '[{,:'.repeat(250_000) })));
  });

  it('[SAFE-3] is not if there are too many of them, or too many levels', () => {
    assert.ok(!isTooMuch('['.repeat(10_000)));
    for (const json of [
      '['.repeat(10_001),
      `[${'{},'.repeat(10_000)}0]`,
      '{"a":'.repeat(10_001),
      '0,'.repeat(10_001),
    ]) {
      assert.ok(isTooMuch(json), json.slice(0, 20));
    }
  });

  it('[SAFE-3] does not include the content of strings, escaped or not', () => {
    const long = '[[,{'.repeat(10_000);
    for (const inside of [`\\"${long}`, `\\\\\\"${long}`, '\\u005b'.repeat(20_000), `\u{1f44d}${long}`]) {
      assert.ok(!isTooMuch(`{"a":"${inside}"}`), inside.slice(0, 10));
    }
    assert.ok(isTooMuch(`{"a":"\\\\",${long}`));
    assert.ok(!isTooMuch(`"${'x'.repeat(20_000)}\\`), 'an escape that ends the text');
  });

  it('[SAFE-3] is computed for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const json = JSON.stringify(value);
        const structure = json.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '');
        const counted = structure.match(/[,[{]/g)?.length ?? 0;
        assert.ok(!hasMoreValues(json, counted));
        if (counted > 0) assert.ok(hasMoreValues(json, counted - 1));
      }),
    );
  });
});
