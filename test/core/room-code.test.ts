import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { codeLengths, drawSymbols } from '../../src/core/room-code.ts';
import { parseRoomCode } from '../../src/protocol/room-code.ts';
import { anyText } from '../contract/any-text.ts';

const symbols = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const anyCode = fc.string({ unit: fc.constantFrom(...symbols), minLength: 6, maxLength: 12 });

describe('the length of codes', () => {
  it('[CODE-2] is 6 up to 6 rooms, 7 up to 196, 8 up to 6,282 and 9 up to 201,053', () => {
    assert.deepEqual(codeLengths.slice(0, 4), [
      { length: 6, upTo: 6 },
      { length: 7, upTo: 196 },
      { length: 8, upTo: 6282 },
      { length: 9, upTo: 201_053 },
    ]);
  });

  it('[CODE-2] keeps unexpired rooms below one in 175,000,000 codes, and is as short as possible', () => {
    for (const { length, upTo } of codeLengths) {
      assert.ok(upTo / 32 ** length < 1 / 175_000_000);
      assert.ok((upTo + 1) / 32 ** length >= 1 / 175_000_000);
    }
  });

  it('[CODE-2] is enough for more rooms than anyone will have', () => {
    assert.ok((codeLengths.at(-1)?.upTo ?? 0) > 6_000_000_000);
  });
});

describe('generating symbols', () => {
  it('[CODE-1] returns Crockford symbols, as many as the longest code has', () => {
    for (let draws = 0; draws < 200; draws++) {
      assert.match(drawSymbols(), /^[0-9A-HJKMNP-TV-Z]{12}$/);
    }
  });

  it('[CODE-1] uses every symbol at every position about equally often', () => {
    const draws = Array.from({ length: 3200 }, drawSymbols);
    for (let place = 0; place < 12; place++) {
      for (const symbol of symbols) {
        const times = draws.filter((draw) => draw[place] === symbol).length;
        // 100 are expected; 40 or 160 would be six standard deviations away.
        assert.ok(times > 40 && times < 160, `${symbol} came ${times} times at place ${place}`);
      }
    }
  });

  it('[CODE-1] does not repeat', () => {
    const draws = Array.from({ length: 1000 }, () => drawSymbols());
    assert.equal(new Set(draws).size, 1000);
  });
});

describe('parsing a code', () => {
  it('[CODE-3] accepts a canonical code unchanged', () => {
    fc.assert(fc.property(anyCode, (code) => assert.equal(parseRoomCode(code), code)));
  });

  it('[CODE-3] accepts any case, spaces and dashes, O for 0, I and L for 1', () => {
    fc.assert(fc.property(anyCode.chain(asTyped), ({ code, typed }) => assert.equal(parseRoomCode(typed), code)));
  });

  it('[CODE-3] accepts what a person may type', () => {
    for (const typed of ['0a1b2c', 'oA-ib 2C', ' OALB2C ', 'o-a-l-b-2-c', 'OAIB\u00a02C', 'oalb\t2c\n']) {
      assert.equal(parseRoomCode(typed), '0A1B2C', JSON.stringify(typed));
    }
  });

  it('[CODE-3] returns the canonical form, and accepts its own result', () => {
    const anything = fc.oneof(
      anyCode.chain(asTyped).map(({ typed }) => typed),
      anyText(20),
    );
    const isIdempotent = fc.property(anything, (typed) => {
      const code = parseRoomCode(typed);
      if (code === undefined) return;
      assert.match(code, /^[0-9A-HJKMNP-TV-Z]{6,12}$/);
      assert.equal(parseRoomCode(code), code);
    });
    fc.assert(isIdempotent, { numRuns: 1000 });
  });

  it('[CODE-5] rejects everything that cannot be a code', () => {
    const notCodes = ['', ' ', '-', '12345', '1234567890123', 'ABCDEU', 'ABC_DEF', 'ABC/DEF', '../../..', '٠١٢٣٤٥'];
    for (const text of [...notCodes, 'ABCDE\u0000', 'ABCDEé', '😀😀😀😀😀😀', `ABCDEF${' '.repeat(1000)}`]) {
      assert.equal(parseRoomCode(text), undefined, JSON.stringify(text));
    }
  });

  it('[CODE-5] does not accept letters of other alphabets', () => {
    for (const text of ['ßßß000', 'ﬁﬁﬁ000', 'ıııııı', 'ſſſſſſ', 'АВСЕНК']) {
      assert.equal(parseRoomCode(text), undefined, text);
    }
  });
});

/** A code as a hurried person writes it. */
function asTyped(code: string): fc.Arbitrary<{ code: string; typed: string }> {
  const lookalikes: Record<string, string[]> = { 0: ['0', 'O', 'o'], 1: ['1', 'I', 'i', 'L', 'l'] };
  const characters = [...code].map((symbol) =>
    fc.tuple(
      fc.constantFrom(...(lookalikes[symbol] ?? [symbol, symbol.toLowerCase()])),
      fc.constantFrom('', '', '', '-', ' ', ' - '),
    ),
  );
  return fc.tuple(...characters).map((pairs) => ({ code, typed: pairs.flat().join('') }));
}
