import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { macPin, parsePin } from '../../src/core/admission.ts';
import { drawSymbols } from '../../src/core/room-code.ts';
import { anyText } from '../contract/any-text.ts';

const pin = parsePin('0427');

describe('a PIN', () => {
  it('[PIN-1] is any four ASCII digits', () => {
    for (let n = 0; n < 10_000; n++) {
      const text = String(n).padStart(4, '0');
      assert.equal(parsePin(text), text);
    }
  });

  it('[PIN-1] is nothing else', () => {
    const others = ['', '123', '12345', '12a4', ' 1234', '1234 ', '1234\n', '12.4', '+123', '-123', '1e10', '0x12'];
    for (const text of [...others, '١٢٣٤', '１２３４', '१२३४', '𝟏𝟐𝟑𝟒', '12\u00003']) {
      assert.throws(
        () => parsePin(text),
        { code: 'VALIDATION_FAILED', details: { field: 'pin' } },
        JSON.stringify(text),
      );
    }
  });

  it('[PIN-1] is nothing else, whatever the input is', () => {
    const notAPin = anyText(20).filter((text) => !/^[0-9]{4}$/.test(text));
    fc.assert(fc.property(notAPin, (text) => assert.throws(() => parsePin(text), { code: 'VALIDATION_FAILED' })));
  });

  it('[PIN-5] is not repeated in the error that rejects it', () => {
    assert.throws(
      () => parsePin('98765'),
      (error: Error) => !JSON.stringify({ ...error, message: error.message }).includes('98765'),
    );
  });
});

describe('the hash of a PIN', () => {
  const hex = (...args: Parameters<typeof macPin>) => Buffer.from(macPin(...args)).toString('hex');

  it('[PIN-6] is an HMAC-SHA-256: 32 bytes, the same for the same secret, room and PIN', () => {
    assert.equal(macPin('secret', 'ABCDEF', pin).length, 32);
    assert.equal(hex('secret', 'ABCDEF', pin), hex('secret', 'ABCDEF', pin));
  });

  it('[PIN-6] differs for another secret, room or PIN', () => {
    const hashes = new Set([
      hex('secret', 'ABCDEF', pin),
      hex('Secret', 'ABCDEF', pin),
      hex('secret', 'ABCDEG', pin),
      hex('secret', 'ABCDEF', parsePin('0428')),
    ]);
    assert.equal(hashes.size, 4);
  });

  it('[PIN-6] is the same for a room code of any length and the symbols it was made from', () => {
    const draw = drawSymbols();
    for (let length = 6; length <= draw.length; length++) {
      assert.equal(hex('secret', draw.slice(0, length), pin), hex('secret', draw, pin));
    }
  });

  it('[PIN-6] is stable across versions, so that rooms survive an upgrade', () => {
    assert.equal(hex('secret', 'ABCDEF', pin), '19b1f28bc97e476df37afd20e59a81ef372fda15b72cae70e0b11964247d4f06');
  });
});
