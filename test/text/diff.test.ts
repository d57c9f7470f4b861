/** The edits from one text to another: that they are right, small and between words, and how long it takes to find them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { maxEdits as protocolMaxEdits } from '../../src/protocol/fields.ts';
import { rebase, toChanges, toEdits } from '../../src/text/changes.ts';
import { diffTexts } from '../../src/text/diff.ts';
import { applyEdits, cutsPair, findProblem, maxEdits, type TextEdit } from '../../src/text/edits.ts';
import { anyText } from '../contract/any-text.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

describe('the difference of two texts', () => {
  it('[TEXT-7] transforms one into the other, with valid edits', () => {
    const leads = fc.property(anyText(200), anyText(200), anyText(50), (one, other, shared) => {
      assertLeads(one + shared + other, other + shared + one);
    });
    fc.assert(leads, { seed: 1, numRuns: 500 });
  });

  it('[TEXT-7] [SYNC-2] starts and ends between words, unless only one position is possible', () => {
    const leads = fc.property(editedTokens(), ({ before, after }) => {
      const [one, other] = [before.join(''), after.join('')];
      const edits = assertLeads(one, other);
      for (const edit of edits) assertAligned(one, other, edits, edit);
    });
    fc.assert(leads, { seed: 2, numRuns: 2000 });
  });

  it('[SYNC-2] keeps in one piece what was typed in one go, whatever others insert between', () => {
    const isKept = fc.property(editedTokens(), fc.nat(), fc.boolean(), ({ before, after }, place, isFirst) => {
      const text = before.join('');
      const position = before.slice(0, place % (before.length + 1)).join('').length;
      const typed = toChanges([{ from: position, to: position, insert: '[typed by another]' }], text.length);
      const replaced = toChanges(diffTexts(text, after.join('')), text.length);
      const merged = applyEdits(after.join(''), toEdits(rebase(typed, replaced, isFirst).mine));
      for (const token of ['[typed by another]', ...after]) {
        const word = token.replace(/[\s。]+$/, '');
        assert.ok(merged.includes(word), `${word} in ${merged}`);
      }
    });
    fc.assert(isKept, { seed: 3, numRuns: 2000 });
  });

  const insertions: [name: string, before: string, after: string, edit: TextEdit][] = [
    ['the end of a word', 'Hel', 'Hello', { from: 3, to: 3, insert: 'lo' }],
    ['a letter inside a word', 'one wod two', 'one word two', { from: 6, to: 6, insert: 'r' }],
    ['a removed letter', 'one wordd, two', 'one word, two', { from: 4, to: 10, insert: 'word,' }],
    ['a repeated word', 'ab', 'abab', { from: 0, to: 2, insert: 'abab' }],
    ['the first words again', 'MY WORDS', 'MY WORDS MY', { from: 8, to: 8, insert: ' MY' }],
    ['a similar word before another', 'x hallo', 'x hello hallo', { from: 2, to: 2, insert: 'hello ' }],
    ['a mark before another', '<t1.210>', '<t1.211><t1.210>', { from: 0, to: 0, insert: '<t1.211>' }],
    ['a mark after another', '<t1.210>', '<t1.210><t2.210>', { from: 8, to: 8, insert: '<t2.210>' }],
    ['a line', 'a\r\nb\r\n', 'a\r\nx\r\nb\r\n', { from: 3, to: 3, insert: 'x\r\n' }],
    ['another emoji', 'a 😀 b', 'a 😁 b', { from: 2, to: 4, insert: '😁' }],
  ];
  for (const [name, before, after, edit] of insertions) {
    it(`[SYNC-2] [TEXT-7] is exact or between words: ${name}`, () => {
      assert.deepEqual(diffTexts(before, after), [edit]);
    });
  }

  const lines = Array.from({ length: 100 }, (_, n) => `This is line ${n} of a text.\n`);
  const text = lines.join('');

  it('[TEXT-7] is small if little changed in many places', () => {
    const changed = lines.map((line, n) => (n % 10 === 0 ? line.replace('text', 'book') : line));
    const edits = assertLeads(text, changed.join(''));
    assert.equal(edits.length, 10);
    assert.ok(edits.every(({ insert }) => insert === 'book.'));
  });

  it('[TEXT-7] is small if several words changed in several lines', () => {
    const changed = lines.map((line, n) => (n % 3 ? line : line.replace('This', 'That').replace('text', 'long book')));
    const edits = assertLeads(text, changed.join(''));
    assert.deepEqual(new Set(edits.map(({ insert }) => insert)), new Set(['That', 'long book.']));
  });

  it('[TEXT-7] is one insertion for a new paragraph, also between equal lines', () => {
    const [one, other] = ['\n\n\nfirst\n\n\nsecond\n\n\n', '\n\n\nfirst\n\n\nnew\n\n\nsecond\n\n\n'];
    assert.equal(assertLeads(one, other).length, 1);
    assert.equal(insertedBy(diffTexts(one, other)), 'new\n\n\n'.length);
  });

  it('[TEXT-7] leaves everything else in place if a line was moved', () => {
    const moved = [...lines.slice(0, 10), ...lines.slice(11, 80), lines[10] ?? '', ...lines.slice(80)];
    const edits = assertLeads(text, moved.join(''));
    assert.equal(edits.length, 2);
    assert.equal(insertedBy(edits), lines[10]?.length);
  });

  it('[TEXT-7] keeps words that were put between others or in brackets', () => {
    const keeps = (before: string, after: string) => diffTexts(before, after).every(({ from, to }) => from === to);
    assert.ok(keeps('one two three', 'zero one (two) three'));
    assert.ok(keeps('lap-PHONE-top', 'first\nlap-PHONE-top\nlast'));
  });

  it('[TEXT-7] keeps the lines that two long texts share, wherever they are', () => {
    const own = (kind: string, n: number) => `${kind} has line ${n} of its own, which nobody else has\n`;
    const shared = Array.from({ length: 2000 }, (_, n) => n % 5 === 0 && `This is line ${n} of both texts.\n`);
    const before = shared.map((line, n) => line || own('The first', n)).join('');
    const after = own('The start', 0).repeat(200) + shared.map((line, n) => line || own('Another text', n)).join('');
    const edits = assertLeads(before, after);
    assert.ok(edits.length > 300, `${edits.length} edits`);
    assert.ok(insertedBy(edits) < 0.95 * after.length);
  });

  it('[TEXT-7] is one range for unrelated texts', () => {
    const [one, other] = [words(200, 'abcdef'), words(200, 'uvwxyz')];
    assert.deepEqual(diffTexts(one, other), [{ from: 0, to: one.length, insert: other }]);
  });

  it('[TEXT-7] has at most as many edits as the protocol allows in a message', () => {
    assert.equal(maxEdits, protocolMaxEdits);
    const many = Array.from({ length: 5000 }, (_, n) => `line ${n}\n`);
    const edits = assertLeads(many.join(''), many.map((line, n) => (n % 2 ? line : `new ${line}`)).join(''));
    assert.ok(edits.length > maxEdits / 2, 'but not much fewer');
  });

  it('[TEXT-8] does not keep the texts in memory', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = used();
    const kept = Array.from({ length: 50 }, (_, n) => {
      const long = `${n} `.repeat(2 ** 19).slice(0, 2 ** 20);
      return diffTexts(long, `${long.slice(0, 2 ** 19)} a few other words ${long.slice(2 ** 19)}`);
    });
    const growth = used() - before;
    assert.ok(growth < 10, `${growth} MiB for ${kept.length} edits`);
  });

  const MiB = 2 ** 20;
  const numbers = Array.from({ length: MiB / 8 }, (_, n) => String(n).padStart(7, '0'));
  const worstCases: Record<string, [string, string]> = {
    'one letter more': ['a'.repeat(MiB - 1), 'a'.repeat(MiB)],
    'one emoji more': ['😀'.repeat(MiB / 4 - 1), '😀'.repeat(MiB / 4)],
    'another letter': ['a'.repeat(MiB), 'b'.repeat(MiB)],
    'alternating letters': ['ab'.repeat(MiB / 2), 'ba'.repeat(MiB / 2)],
    'alternating letters and marks': ['a,'.repeat(MiB / 2), ',a'.repeat(MiB / 2)],
    'one line feed more': ['\n'.repeat(MiB - 1), '\n'.repeat(MiB)],
    'line feeds between other letters': ['\n'.repeat(MiB), `x${'\n'.repeat(MiB - 2)}y`],
    'random letters': [noise(MiB, 1), noise(MiB, 2)],
    'reversed lines': [numbers.join('\n'), numbers.toReversed().join('\n')],
    'mixed lines': [numbers.join('\n'), numbers.map((_, n) => numbers[(n * 7919) % numbers.length]).join('\n')],
    'every second line': [numbers.join('\n'), numbers.map((line, n) => (n % 2 ? line : `x${line}`)).join('\n')],
    'many words': [words(MiB / 7, 'abc'), words(MiB / 7, 'abd')],
    'many changed lines between kept ones': [interleaved(250, 7), interleaved(250, 11)],
  };
  for (const [name, [before, after]] of Object.entries(worstCases)) {
    it(`[RUN-7] takes less than 100 ms of CPU for 1 MiB: ${name}`, () => {
      let edits: TextEdit[] = [];
      const cpuMs = cpuMsOf(() => {
        edits = diffTexts(before, after);
      }, 100);
      assert.ok(cpuMs < 100, `${cpuMs} ms of CPU`);
      assert.ok(edits.length <= maxEdits);
      assert.equal(applyEdits(before, edits), after);
    });
  }
});

function assertLeads(before: string, after: string): TextEdit[] {
  const edits = diffTexts(before, after);
  assert.equal(findProblem(edits, before.length), undefined);
  assert.equal(applyEdits(before, edits), after);
  assert.ok(edits.length <= maxEdits);
  assert.ok(edits.every(({ from, to }) => !cutsPair(before, from) && !cutsPair(before, to)));
  return edits;
}

/** Both ends of what is removed, and of what is inserted. */
function assertAligned(before: string, after: string, edits: TextEdit[], edit: TextEdit): void {
  const { from, to, insert } = edit;
  const start =
    from +
    edits.slice(0, edits.indexOf(edit)).reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), 0);
  const splits = [
    splitsWord(before, from),
    splitsWord(before, to),
    splitsWord(after, start),
    splitsWord(after, start + insert.length),
  ];
  if (!splits.includes(true)) return;
  const message = JSON.stringify({ before, after, edit });
  assert.ok(from === to || insert === '', `a replacement splits a word: ${message}`);
  const longer = from === to ? after : before;
  const [first, end] = from === to ? [start, start + insert.length] : [from, to];
  const canMove = longer[first - 1] === longer[end - 1] || longer[first] === longer[end];
  assert.ok(!canMove, `another position was possible: ${message}`);
}

const splitsWord = (text: string, position: number) =>
  /[\p{L}\p{N}\p{M}_]$/u.test(text.slice(Math.max(0, position - 2), position)) &&
  /^[\p{L}\p{N}\p{M}_]/u.test(text.slice(position, position + 2));

/** Words and marks, some of them inserted, removed or replaced. */
function editedTokens() {
  const token = fc.oneof(
    fc.constantFrom('a ', 'ab ', 'abab ', 'the ', 'thé ', 'then ', '漢字。', '😀 ', 'x_1 ', '\n', '\r\n'),
    fc.tuple(fc.nat(2), fc.nat(12)).map(([who, count]) => `<t${who}.${count}>`),
  );
  const change = fc.tuple(fc.nat(), fc.nat(2), fc.array(token, { maxLength: 3 }));
  return fc.tuple(fc.array(token, { maxLength: 40 }), fc.array(change, { maxLength: 4 })).map(([before, changes]) => {
    const after = [...before];
    for (const [place, removed, inserted] of changes) after.splice(place % (after.length + 1), removed, ...inserted);
    return { before, after };
  });
}

const insertedBy = (edits: readonly TextEdit[]) => edits.reduce((sum, { insert }) => sum + insert.length, 0);

function noise(length: number, seed: number, letters = 'abcdefghijklmnopqrstuvwxyz 0123456789.,\n'): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return letters[(state >>> 16) % letters.length];
  }).join('');
}

function words(count: number, letters: string): string {
  return Array.from({ length: count }, (_, n) => noise(6, n, letters)).join(' ');
}

/** Lines of about 4,000 characters between lines that both texts have. */
function interleaved(count: number, factor: number): string {
  const changed = (n: number) => Array.from({ length: 700 }, (_, k) => (n + k * factor) % 10_000).join(' ');
  return Array.from({ length: count }, (_, n) => `kept line ${n}\n${changed(n)}\n`).join('');
}
