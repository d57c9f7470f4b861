/** The smallest edits from one text to another, and how long it takes to find them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { maxEdits as protocolMaxEdits } from '../../src/protocol/fields.ts';
import { diffTexts } from '../../src/text/diff.ts';
import { applyEdits, findProblem, maxEdits } from '../../src/text/edits.ts';
import { anyText } from '../contract/any-text.ts';

describe('the difference of two texts', () => {
  it('[TEXT-7] transforms one into the other, with valid edits', () => {
    const leads = fc.property(anyText(200), anyText(200), anyText(50), (one, other, shared) => {
      const [before, after] = [one + shared + other, other + shared + one];
      const edits = diffTexts(before, after);
      assert.equal(findProblem(edits, before.length), undefined);
      assert.equal(applyEdits(before, edits), after);
    });
    fc.assert(leads, { seed: 1, numRuns: 500 });
  });

  it('[TEXT-7] is small if little changed in many places', () => {
    const lines = Array.from({ length: 100 }, (_, n) => `This is line ${n} of a text.\n`);
    const changed = lines.map((line, n) => (n % 10 === 0 ? line.replace('text', 'book') : line));
    const edits = diffTexts(lines.join(''), changed.join(''));
    assert.equal(edits.length, 10);
    assert.ok(edits.every(({ insert }) => insert === 'book'));
  });

  it('[RUN-7] has at most as many edits as the protocol allows in a message', () => {
    assert.equal(maxEdits, protocolMaxEdits);
  });

  it('[TEXT-7] does not split surrogate pairs', () => {
    assert.deepEqual(diffTexts('a😀b', 'a😁b'), [{ from: 1, to: 3, insert: '😁' }]);
  });

  // Each took seconds when only the parts were bounded, and not the whole.
  const worstCases: Record<string, [string, string]> = {
    'many changed lines between kept ones': [interleaved(149, 'a'), interleaved(149, 'b')],
    'many words': [words(20_000, 1), words(20_000, 2)],
    'a million line feeds': ['\n'.repeat(1_000_000), `x${'\n'.repeat(999_998)}y`],
    'all different': ['x'.repeat(1_000_000), 'y'.repeat(1_000_000)],
  };
  for (const [name, [before, after]] of Object.entries(worstCases)) {
    it(`[RUN-7] takes bounded time and has at most 1,000 edits: ${name}`, () => {
      const startedAt = process.cpuUsage();
      const edits = diffTexts(before, after);
      const { user, system } = process.cpuUsage(startedAt);
      assert.ok(user + system < 500_000, `${(user + system) / 1000} ms of CPU`);
      assert.ok(edits.length <= 1000);
      assert.equal(applyEdits(before, edits), after);
    });
  }
});

function interleaved(count: number, letter: string): string {
  const changed = (n: number) => Array.from({ length: 40 }, (_, k) => `${letter}${(n * k) % 7}`).join(' ');
  return Array.from({ length: count }, (_, n) => `kept line ${n}\n${changed(n)}\n`).join('');
}

function words(count: number, seed: number): string {
  return Array.from({ length: count }, (_, n) => ((n * seed * 7919) % 97).toString(36)).join(' ');
}
