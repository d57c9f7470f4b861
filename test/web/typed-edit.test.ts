/** The edit that was typed into a field, computed from its value before and after. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyEdits } from '../../src/text/edits.ts';
import {
  asShown,
  movedPosition,
  positionInField,
  positionInText,
  typedEdits,
} from '../../web/src/views/room/field-edits.ts';
import { seededRandom } from '../support/seeded-random.ts';

describe('an edit from a text field', () => {
  it('[PAGE-7] is located by the caret, even among equal letters', () => {
    assert.deepEqual(typedEdits('aaaa', 'aaaaa', 2), [{ from: 1, to: 1, insert: 'a' }], 'a letter');
    assert.deepEqual(typedEdits('aaaa', 'aaa', 2), [{ from: 2, to: 3, insert: '' }], 'a letter removed');
    assert.deepEqual(typedEdits('one two', 'two', 0), [{ from: 0, to: 4, insert: '' }], 'a word removed');
    assert.deepEqual(typedEdits('it is teh end', 'it is the end', 9), [{ from: 7, to: 9, insert: 'he' }], 'corrected');
    assert.deepEqual(typedEdits('abc', 'xyz', 3), [{ from: 0, to: 3, insert: 'xyz' }], 'replaced');
  });

  it('[PAGE-7] transforms the old text into the new one for any caret', (t) => {
    const random = seededRandom(t);
    const draw = () =>
      Array.from({ length: random.number(12) }, () => random.pick(['a', 'b', ' ', '\n', '😀'])).join('');
    for (let round = 0; round < 3_000; round++) {
      const [before, after] = [draw(), draw()];
      const caret = random.number(after.length + 1);
      const input = JSON.stringify({ before, after, caret });
      assert.equal(applyEdits(before, typedEdits(before, after, caret)), after, input);
    }
  });

  it('[PAGE-7] is mapped to a text with longer line endings than the field shows', (t) => {
    const random = seededRandom(t);
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: random.number(10) }, () => random.pick(['a', '\r\n', '\n', '\r'])).join('');
      const shown = asShown(text);
      for (let position = 0; position <= shown.length; position++) {
        const place = positionInText(text, position);
        assert.equal(asShown(text.slice(0, place)), shown.slice(0, position), JSON.stringify({ text, position }));
        assert.equal(positionInField(text, place), position);
      }
    }
  });
});

describe('a position in a text that others edit', () => {
  it('[PAGE-24] stays before insertions at it, and moves with all other edits', () => {
    const insertion = [{ from: 3, to: 3, insert: 'xy' }];
    assert.equal(movedPosition(insertion, 3), 3, 'a caret');
    assert.equal(movedPosition(insertion, 3, 'after'), 5, 'the start of a selection');
    assert.equal(movedPosition(insertion, 4), 6);
    assert.equal(movedPosition(insertion, 2), 2);
    const removal = [{ from: 2, to: 6, insert: '' }];
    assert.deepEqual(
      [1, 2, 4, 6, 7].map((position) => movedPosition(removal, position)),
      [1, 2, 2, 2, 3],
    );
    const replacement = [{ from: 2, to: 4, insert: 'longer' }];
    assert.deepEqual(
      [2, 3, 4, 5].map((position) => movedPosition(replacement, position)),
      [2, 2, 8, 9],
    );
  });
});
