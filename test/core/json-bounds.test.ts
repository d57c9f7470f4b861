/** JSON that is refused before it is parsed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasBounds, isBoundedJson } from '../../src/core/json-bounds.ts';

const isBounded = (text: string) => hasBounds(Buffer.from(text));

describe('the bounds of JSON', () => {
  it('[SAFE-3] let pass the largest messages that there are', () => {
    const edits = Array.from({ length: 1000 }, (_, n) => ({ from: n, to: n, insert: '{[,:"\\' }));
    assert.ok(isBounded(JSON.stringify({ type: 'edit', baseVersion: 1, edits, ref: 'x', pin: '0427' })));
    assert.ok(isBounded(JSON.stringify({ content: '[{,:'.repeat(250_000) })));
    assert.ok(isBounded(''));
  });

  it('[SAFE-3] refuse what is nested deeply, and what has too many values', () => {
    assert.ok(isBounded('['.repeat(8)));
    for (const text of ['['.repeat(9), '{"a":'.repeat(9), `[${'{},'.repeat(10_000)}0]`, '0,'.repeat(10_001)]) {
      assert.ok(!isBounded(text), text.slice(0, 20));
    }
  });

  it('[SAFE-3] look at structure only: strings may have anything, escaped or not', () => {
    for (const inside of ['\\"[[[[[[[[[[[[', '\\\\', '\\u005b'.repeat(20), '\u{1f44d}[[[[[[[[[[']) {
      assert.ok(isBounded(`{"a":"${inside}"}`), inside);
    }
    assert.ok(!isBounded(`{"a":"\\\\",${'[['.repeat(8)}`));
    assert.ok(isBounded('"\\'), 'an escape that ends the text');
  });

  it('[SAFE-3] are for long texts only', () => {
    assert.ok(isBoundedJson(Buffer.from('['.repeat(100_000))));
    assert.ok(!isBoundedJson(Buffer.from('['.repeat(200_000))));
  });

  it('[SAFE-3] agree with the structure of any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), (value) => {
        assert.equal(isBounded(JSON.stringify(value)), depthOf(value) <= 8);
      }),
    );
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
