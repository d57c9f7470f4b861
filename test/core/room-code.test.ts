import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { codeLengths, drawSymbols, type RoomCode } from '../../src/core/room-code.ts';
import { createRoomHandles } from '../../src/core/tokens.ts';
import { isEncryptedCode, parseRoomCode } from '../../src/protocol/room-code.ts';
import { anyText } from '../contract/any-text.ts';

const symbols = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const anyCode = fc.string({ unit: fc.constantFrom(...symbols), minLength: 6, maxLength: 12 });

describe('the length of codes', () => {
  it('[CODE-2] is 6 up to 5 rooms, 7 up to 190, 8 up to 6,086 and 9 up to 194,770', () => {
    assert.deepEqual(codeLengths.plain.slice(0, 4), [
      { length: 6, upTo: 5 },
      { length: 7, upTo: 190 },
      { length: 8, upTo: 6086 },
      { length: 9, upTo: 194_770 },
    ]);
  });

  it('[CODE-2] is one more for encrypted rooms: 7 up to 6, 8 up to 196, 9 up to 6,282 and 10 up to 201,053', () => {
    assert.deepEqual(codeLengths.encrypted.slice(0, 5), [
      { length: 6, upTo: 0 },
      { length: 7, upTo: 6 },
      { length: 8, upTo: 196 },
      { length: 9, upTo: 6282 },
      { length: 10, upTo: 201_053 },
    ]);
  });

  for (const [kind, firstSymbols] of [
    ['plain', 31],
    ['encrypted', 1],
  ] as const) {
    it(`[CODE-2] keeps unexpired rooms below one in 175,000,000 ${kind} codes, and is as short as possible`, () => {
      for (const { length, upTo } of codeLengths[kind]) {
        const codes = firstSymbols * 32 ** (length - 1);
        assert.ok(upTo / codes < 1 / 175_000_000);
        assert.ok((upTo + 1) / codes >= 1 / 175_000_000);
      }
    });
  }

  it('[CODE-2] is enough for more rooms than anyone will have', () => {
    assert.ok((codeLengths.plain.at(-1)?.upTo ?? 0) > 6_000_000_000);
    assert.ok((codeLengths.encrypted.at(-1)?.upTo ?? 0) > 200_000_000);
  });
});

describe('generating symbols', () => {
  it('[CODE-1] returns Crockford symbols, as many as the longest code has', () => {
    for (let draws = 0; draws < 200; draws++) {
      assert.match(drawSymbols(), /^[0-9A-HJKMNP-TV-Z]{12}$/);
      assert.match(drawSymbols('encrypted'), /^[0-9A-HJKMNP-TV-Z]{12}$/);
    }
  });

  it('[CODE-6] starts with E for encrypted rooms, and only for them', () => {
    for (let draws = 0; draws < 1000; draws++) {
      assert.ok(isEncryptedCode(drawSymbols('encrypted') as RoomCode));
      assert.ok(!isEncryptedCode(drawSymbols('plain') as RoomCode));
    }
  });

  it('[CODE-6] tells encrypted codes from others, however they are written', () => {
    for (const typed of ['E7KQ2M', 'e7k-q2m', ' e 7 k q 2 m ']) {
      assert.ok(isEncryptedCode(parseRoomCode(typed) as RoomCode), typed);
    }
    for (const typed of ['7EKQ2M', '3E7KQ2', 'FEEEEE']) {
      assert.ok(!isEncryptedCode(parseRoomCode(typed) as RoomCode), typed);
    }
  });

  it('[CODE-1] uses every symbol at every position after the first about equally often', () => {
    const draws = Array.from({ length: 3200 }, (_, i) => drawSymbols(i % 2 ? 'plain' : 'encrypted'));
    // The first symbol tells the kind (CODE-6).
    for (let place = 1; place < 12; place++) {
      for (const symbol of symbols) {
        const times = draws.filter((draw) => draw[place] === symbol).length;
        // 100 are expected; 40 or 160 would be six standard deviations away.
        assert.ok(times > 40 && times < 160, `${symbol} came ${times} times at place ${place}`);
      }
    }
  });

  it('[CODE-1] starts a plain code with each of the other 31 symbols about equally often', () => {
    const first = Array.from({ length: 3100 }, () => drawSymbols()[0]);
    for (const symbol of symbols.filter((symbol) => symbol !== 'E')) {
      const times = first.filter((drawn) => drawn === symbol).length;
      assert.ok(times > 40 && times < 160, `${symbol} came ${times} times`);
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

describe('the id of a room for operators', () => {
  it('[ADMIN-12] never looks like an option on the command line, and leads back to the room', () => {
    const handles = createRoomHandles('a secret');
    for (let number = 0; number < 1000; number++) {
      const code = parseRoomCode(String(number).padStart(6, '0'));
      assert.ok(code);
      const handle = handles.handleOf(code);
      assert.match(handle, /^r[\w-]+$/);
      assert.equal(handles.codeOf(handle), code);
    }
    assert.equal(createRoomHandles('another').codeOf(handles.handleOf(parseRoomCode('000000') as never)), undefined);
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
