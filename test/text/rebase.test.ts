/** Rebasing an edit over a log. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toChanges, toEdits } from '../../src/text/changes.ts';
import { insertsBefore, lengthAfter, type TextEdit } from '../../src/text/edits.ts';
import { type LoggedEdits, rebaseOver } from '../../src/text/rebase.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

const runs = Number(process.env.POPROOM_SYNC_RUNS ?? 250) * 40;
const own = 'm';

/** As clients do it: change sets, entry by entry. */
function mapEntryByEntry(edits: readonly TextEdit[], length: number, log: readonly LoggedEdits[]): TextEdit[] {
  let current = length;
  let mine = toChanges(edits, length);
  for (const { edits: theirs, deviceId } of log) {
    mine = mine.map(toChanges(theirs, current), insertsBefore(own, deviceId));
    current = lengthAfter(current, theirs);
  }
  return toEdits(mine);
}

/** In a text of few characters, most ranges touch each other. */
const anyLength = fc.nat(8);
const anyRange = fc.record({ at: fc.nat(99), removed: fc.constantFrom(0, 0, 1, 2, 5), inserted: fc.nat(2) });
const anyEdits = fc.array(anyRange, { minLength: 1, maxLength: 4 });
const anyLog = fc.array(fc.tuple(anyEdits, fc.constantFrom('a', own, 'z', undefined)), { minLength: 1, maxLength: 12 });

type Drawn = typeof anyEdits extends fc.Arbitrary<infer T> ? T : never;

function editsOf(drawn: Drawn, length: number, letter: string): TextEdit[] {
  const starts = drawn.map(({ at }) => at % (length + 1)).toSorted((a, b) => a - b);
  return drawn.map(({ removed, inserted }, index) => {
    const from = starts[index] ?? 0;
    return { from, to: Math.min(from + removed, starts[index + 1] ?? length), insert: letter.repeat(inserted) };
  });
}

describe('rebasing an edit over a log', () => {
  it('[TEXT-10] [SYNC-1] has the result of mapping it entry by entry, with ties, removals and several devices', () => {
    const same = fc.property(anyLength, anyEdits, anyLog, (length, drawn, drawnLog) => {
      let current = length;
      const log = drawnLog.map(([ofEntry, deviceId]) => {
        const edits = editsOf(ofEntry, current, 't');
        current = lengthAfter(current, edits);
        return { edits, deviceId };
      });
      const edits = editsOf(drawn, length, 'm');
      assert.deepEqual(rebaseOver(edits, own, log), mapEntryByEntry(edits, length, log));
    });
    fc.assert(same, { numRuns: runs });
  });

  it('[TEXT-10] takes little time over 10,000 entries', () => {
    const log = Array.from({ length: 10_000 }, (_, n) => ({ edits: insertions([n, 21_000 + 2 * n, 42_000 + 3 * n]) }));
    const edits = [
      { from: 10, to: 20, insert: 'a' },
      { from: 20_010, to: 20_010, insert: 'b' },
      { from: 41_000, to: 60_000, insert: '' },
    ];
    let rebased: readonly TextEdit[] | undefined;
    const cpuMs = cpuMsOf(() => {
      rebased = rebaseOver(edits, own, log);
    }, 30);
    assert.equal(rebased?.length, 4, 'what was typed into the removed range is kept');
    assert.ok(cpuMs < 30, `${cpuMs} ms of CPU`);
  });

  for (const [name, edits, log] of [
    [
      'that split it',
      [{ from: 0, to: 900_000, insert: '' }],
      Array.from({ length: 1250 }, (_, n) => ({ edits: insertions(scattered(28, n)) })),
    ],
    [
      'that are far apart from each other and from many ranges',
      Array.from({ length: 1000 }, (_, n) => ({ from: 900 * n, to: 900 * n + 3, insert: 'zz' })),
      Array.from({ length: 2000 }, (_, n) => ({ edits: insertions(scattered(30, n)) })),
    ],
  ] as const) {
    it(`[TEXT-11] [SAFE-8] gives up early over entries ${name}`, () => {
      const cpuMs = cpuMsOf(() => assert.equal(rebaseOver(edits, own, log), undefined), 30);
      assert.ok(cpuMs < 30, `${cpuMs} ms of CPU`);
    });
  }
});

function insertions(positions: readonly number[]): TextEdit[] {
  return positions.map((at) => ({ from: at, to: at, insert: 'y' }));
}

function scattered(count: number, entry: number): number[] {
  return Array.from({ length: count }, (_, n) => Math.floor(((n + (entry % 997) / 997) * 900_000) / count));
}
