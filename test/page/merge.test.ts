/** Two people's changes to the same text, put together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { merge } from '../../web/src/room/merge.ts';

describe('a merge', () => {
  it('[PAGE-8] puts changes of different lines and of different words together', () => {
    for (const [base, mine, theirs, text] of [
      ['one\ntwo\nthree\n', 'ONE\ntwo\nthree\n', 'one\ntwo\nTHREE\n', 'ONE\ntwo\nTHREE\n'],
      ['milk, bread, tea', 'oat milk, bread, tea', 'milk, bread, green tea', 'oat milk, bread, green tea'],
      ['a\nb\nc', 'b\nc', 'a\nb\nc\nd', 'b\nc\nd'],
      ['x\r\ny\r\n', 'x1\r\ny\r\n', 'x\r\ny2\r\n', 'x1\r\ny2\r\n'],
      ['今天天气很好', '今天的天气很好', '今天天气非常好', '今天的天气非常好'],
    ] as const) {
      assert.deepEqual(merge(base, mine, theirs), { text, unplaced: [] });
    }
  });

  it('[PAGE-8] keeps both of what was written at the same place, one after the other', () => {
    assert.deepEqual(merge('', 'mine', 'theirs'), { text: 'theirs mine', unplaced: [] });
    assert.deepEqual(merge('list:\n', 'list:\nmilk\n', 'list:\neggs\n'), { text: 'list:\neggs\nmilk\n', unplaced: [] });
    assert.deepEqual(merge('a', 'a\nb', 'a\nc'), { text: 'a\nc\nb', unplaced: [] });
  });

  it('[PAGE-8] takes what one wrote for the beginning of what the other did only where whole words are alike', () => {
    assert.deepEqual(merge('', 'not yet', 'no'), { text: 'no not yet', unplaced: [] });
    assert.deepEqual(merge('', 'no', 'not yet'), { text: 'not yet no', unplaced: [] });
    assert.deepEqual(merge('', 'no, not yet', 'no'), { text: 'no, not yet', unplaced: [] });
    assert.deepEqual(merge('', 'no', 'no, not yet'), { text: 'no, not yet', unplaced: [] });
  });

  it('[PAGE-8] lets their words stand where both changed the same ones, and hands mine back in their context', () => {
    assert.deepEqual(merge('top\nthe quick fox\n', 'top\nthe slow fox\n', 'top\nthe red fox\n'), {
      text: 'top\nthe red fox\n',
      unplaced: ['the slow fox'],
    });
  });

  it('[PAGE-8] keeps what one changed and the other removed', () => {
    assert.deepEqual(merge('a\nb\nc\n', 'a\nc\n', 'a\nb, but better\nc\n').text, 'a\nb, but better\nc\n');
    assert.deepEqual(merge('a\nb\nc\n', 'a\nb, but better\nc\n', 'a\nc\n').text, 'a\nb, but better\nc\n');
    assert.deepEqual(merge('all of it', 'all of it, and more', '').text, 'all of it, and more');
  });

  it('[PAGE-8] hands nothing back that has no words', () => {
    assert.deepEqual(merge('a\n', '  \n', 'b\n'), { text: 'b\n', unplaced: [] });
  });

  it('[PAGE-8] with a side that changed nothing is the other side', () => {
    fc.assert(
      fc.property(anyText, anyText, (base, changed) => {
        assert.deepEqual(merge(base, changed, base), { text: changed, unplaced: [] });
        assert.deepEqual(merge(base, base, changed), { text: changed, unplaced: [] });
      }),
    );
  });

  it('[PAGE-8] does not double what both did alike', () => {
    fc.assert(
      fc.property(anyText, anyText, (base, changed) => {
        assert.deepEqual(merge(base, changed, changed), { text: changed, unplaced: [] });
      }),
    );
    const both = 'a\nthe same line\nb\nc\nd\n';
    const { text } = merge('a\nb\nc\nd\n', both.replace('d', 'my d'), both.replace('b', 'their b'));
    assert.equal(text, 'a\nthe same line\ntheir b\nc\nmy d\n');
  });

  it('[PAGE-8] loses no word that either side wrote', () => {
    fc.assert(
      fc.property(baseText, changes, changes, (base, ours, others) => {
        const mine = changed(base, ours, 'mine');
        const theirs = changed(base, others, 'theirs');
        const { text, unplaced } = merge(base, mine.text, theirs.text);
        for (const word of theirs.wrote) assert.ok(text.includes(word), `${word} of theirs is in ${text}`);
        for (const word of mine.wrote)
          assert.ok(
            [text, ...unplaced].some((passage) => passage.includes(word)),
            `${word} is in ${text}, ${unplaced}`,
          );
      }),
      { numRuns: 1_000 },
    );
  });

  it('[PAGE-8] loses no word that begins or ends like another', () => {
    fc.assert(
      fc.property(likeWords, likeWords, likeWords, (base, mine, theirs) => {
        const { text, unplaced } = merge(base, mine, theirs);
        const old = new Set(wordsIn(base));
        for (const word of wordsIn(theirs))
          assert.ok(old.has(word) || wordsIn(text).includes(word), `${word} of theirs is in ${text}`);
        for (const word of wordsIn(mine))
          assert.ok(
            old.has(word) || [text, ...unplaced].some((passage) => wordsIn(passage).includes(word)),
            `${word} is in ${text}, ${unplaced}`,
          );
      }),
      { numRuns: 1_000 },
    );
  });

  it('[PAGE-8] takes any three texts, and tears no character apart', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (base, mine, theirs) => {
        const { text, unplaced } = merge(base, mine, theirs);
        for (const result of [text, ...unplaced]) assert.ok(result.isWellFormed());
      }),
      { numRuns: 500 },
    );
  });

  for (const [what, base, mine, theirs] of worstCases()) {
    it(`[PAGE-8] does not freeze the page over ${what}`, () => {
      // Its own time: the machine may be busy with other things.
      const begin = process.cpuUsage();
      const { text, unplaced } = merge(base, mine, theirs);
      const { user, system } = process.cpuUsage(begin);
      const ms = (user + system) / 1000;
      assert.ok(text.includes('THEIRS') && [text, ...unplaced].some((passage) => passage.includes('MINE')));
      assert.ok(ms < 3_000, `took ${Math.round(ms)} ms`);
    });
  }
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('a', 'b', 'a b', '\n', '\r\n', '\t', '😀', '👩‍👩‍👧', '汉字', 'é', '\u0000', 'שלום', ' '), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
);

const likeWords = fc
  .array(fc.constantFrom('no', 'not', 'note', 'yes', 'eyes', 'eye', '3', '3.5', '\n', ','), { maxLength: 4 })
  .map((parts) => parts.join(' '));
const wordsIn = (text: string) => text.split(/[^\w.]+/).filter(Boolean);

const baseText = fc
  .array(fc.constantFrom('milk', 'bread', 'tea', ' ', ' ', ', ', '\n', '\r\n', '今天天气', '😀'), { maxLength: 25 })
  .map((parts) => parts.join(''));

interface TextChange {
  at: number;
  removed: number;
  style: 'word' | 'line' | 'glued';
}

const changes = fc.array(
  fc.record<TextChange>({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.nat(12),
    style: fc.constantFrom('word', 'line', 'glued'),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Changes a text from its end to its beginning, so that no change removes the words of another. */
function changed(base: string, list: readonly TextChange[], who: string): { text: string; wrote: string[] } {
  const wrote: string[] = [];
  let text = base;
  let end = base.length;
  for (const { at, removed, style } of [...list].sort((one, other) => other.at - one.at)) {
    const from = Math.min(Math.floor(at * base.length), end);
    const to = Math.min(from + removed, end);
    const word = `${who}${wrote.length}x`;
    const written = { word: ` ${word} `, line: `\n${word}\n`, glued: word }[style];
    text = (text.slice(0, from) + written + text.slice(to)).toWellFormed();
    wrote.push(word);
    end = from;
  }
  return { text, wrote };
}

function worstCases(): [what: string, base: string, mine: string, theirs: string][] {
  const mebi = 1024 * 1024;
  const newlines = '\n'.repeat(mebi);
  const every = (words: string) => Array.from({ length: 1000 }, () => '\n'.repeat(1000) + words).join('');
  const lines = (of: (i: number) => string) => Array.from({ length: 100_000 }, (_, i) => of(i)).join('\n');
  const long = 'a '.repeat(mebi / 2);
  const chinese = '汉字测试'.repeat(mebi / 12);
  return [
    ['a mebibyte of newlines', newlines, `MINE${newlines}`, `${newlines}THEIRS`],
    ['newlines with words everywhere', newlines, every('MINE'), every('THEIRS')],
    ['100,000 lines that both changed', lines((i) => `${i}`), lines((i) => `MINE${i}`), lines((i) => `THEIRS${i}`)],
    [
      'every hundredth of 100,000 lines',
      lines((i) => `${i}`),
      lines((i) => (i % 111 ? `${i}` : `MINE${i}`)),
      lines((i) => (i % 111 ? `${i}` : `THEIRS${i}`)),
    ],
    ['one huge line of words', long, `MINE ${long}`, `${long.slice(1400)} THEIRS`],
    ['one huge line without spaces', 'a'.repeat(mebi), `${'a'.repeat(mebi)}MINE`, `THEIRS${'a'.repeat(mebi)}`],
    ['one huge line of Chinese', chinese, `${chinese}MINE`, `THEIRS${chinese}`],
  ];
}
