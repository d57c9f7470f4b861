/** The QR codes of rooms, which the page encodes with its own code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import decode from 'qr/decode.js';
import { encode } from 'uqr';
import { encodeModules, type Modules } from '../../web/src/components/qr-encoder.ts';

describe('the QR code', () => {
  it('[PAGE-3] of a link of any length can be decoded, and is not larger than that of another encoder', () => {
    for (let length = 1; length <= 271; length += 18) {
      const link = `https://pop.example.org/r/${'ab-ü.0'.repeat(50)}`.slice(0, length);
      if (new TextEncoder().encode(link).length > 271) break;
      const modules = encodeModules(link);
      assert.equal(modules.length, encode(link, { border: 0 }).size, `${length} letters`);
      assert.equal(decode(toImage(modules)), link);
    }
  });

  it('[PAGE-3] is refused for a text that does not fit', () => {
    assert.equal(encodeModules('a'.repeat(271)).length, 57);
    assert.throws(() => encodeModules('a'.repeat(272)), RangeError);
  });
});

/** Four pixels for each module, with a border of four modules. */
function toImage(modules: Modules) {
  const [scale, border] = [4, 4];
  const side = (modules.length + 2 * border) * scale;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let i = 0; i < side * side; i++) {
    const [x, y] = [Math.floor((i % side) / scale) - border, Math.floor(i / side / scale) - border];
    if (modules[y]?.[x]) data.fill(0, i * 4, i * 4 + 3);
  }
  return { width: side, height: side, data };
}
