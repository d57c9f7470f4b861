/** Which parts of a text are this device's own, and which of them a later text has lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lostWords, type OwnWords, onEdit, onOwnEdit } from '../../src/client/sealed/channel-codec.ts';
import { applyEdits } from '../../src/text/edits.ts';
import { anyEdits, editsOf } from '../contract/any-text.ts';

describe('the own words of a device', () => {
  it('[SEALED-46] are followed through all edits', () => {
    const steps = fc.array(fc.record({ drawn: anyEdits, isOwn: fc.boolean() }), { maxLength: 8 });
    const isFollowed = fc.property(steps, (drawnSteps) => {
      let [text, own] = ['', [] as OwnWords];
      for (const { drawn, isOwn } of drawnSteps) {
        // Own letters are in upper case.
        const edits = editsOf(drawn, text).map((edit) => ({
          ...edit,
          insert: (isOwn ? 'X' : 'o').repeat(edit.insert.length),
        }));
        text = applyEdits(text, edits);
        own = (isOwn ? onOwnEdit : onEdit)(own, edits);
      }
      const found = [...text.matchAll(/X+/g)].map(({ index, 0: run }) => ({ from: index, to: index + run.length }));
      assert.deepEqual(own, found);
    });
    fc.assert(isFollowed, { numRuns: 300 });
  });

  it('[SEALED-46] are lost if a later text does not have them anywhere', () => {
    const before = 'one mine two\nmine too\nthree';
    const own = [
      { from: 4, to: 8 },
      { from: 13, to: 21 },
    ];
    assert.equal(lostWords(own, before, before), '');
    assert.equal(lostWords(own, before, 'one two\nthree'), 'mine\nmine too');
    assert.equal(lostWords(own, before, 'one two\nthree\nmine too'), '', 'they were moved');
    assert.equal(lostWords(own, before, 'one mine two'), 'mine too');
    assert.equal(lostWords(own, before, 'mine too'), '');
  });

  it('[SEALED-46] are limited to 1,000 ranges, of which the longest stay', () => {
    const text = 'x'.repeat(6000);
    let own = onOwnEdit([], [{ from: 0, to: 0, insert: text }]);
    own = onEdit(
      own,
      Array.from({ length: 1500 }, (_, n) => ({ from: 3 * n + 1, to: 3 * n + 1, insert: ' ' })),
    );
    assert.equal(own.length, 1000);
    assert.ok(own.some(({ from, to }) => to - from > 1000));
    assert.ok(own.every(({ from }, index) => index === 0 || from > (own[index - 1]?.to ?? 0)));
  });
});
