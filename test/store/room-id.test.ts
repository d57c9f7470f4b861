/** The numeric ids of rooms in SQLite. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RoomCode } from '../../src/core/room-code.ts';
import { codeSymbols, longestCode, shortestCode } from '../../src/protocol/room-code.ts';
import { roomIdOf } from '../../src/store/sqlite/cache.ts';

const anyCode = fc
  .string({ unit: fc.constantFrom(...codeSymbols), minLength: shortestCode, maxLength: longestCode })
  .map((code) => code as RoomCode);

describe('the id of a room', () => {
  it('[CODE-2] is unique for each code', () => {
    const differ = fc.property(anyCode, anyCode, (one, other) => {
      assert.equal(BigInt(roomIdOf(one)) === BigInt(roomIdOf(other)), one === other);
    });
    fc.assert(differ, { numRuns: 2000 });
  });

  it('[CODE-2] differs for codes that differ in one symbol, or in their length', () => {
    for (let length = shortestCode; length <= longestCode; length++) {
      const zeros = '0'.repeat(length);
      const near = Array.from(zeros, (_, at) => `${zeros.slice(0, at)}Z${zeros.slice(at + 1)}`);
      const ids = [zeros, `${zeros}0`, ...near].map((code) => BigInt(roomIdOf(code as RoomCode)));
      assert.equal(new Set(ids).size, length + 2);
    }
  });

  it('[CODE-2] fits into a SQLite integer, and into a JavaScript number where it can', () => {
    for (let length = shortestCode; length <= longestCode; length++) {
      const id = roomIdOf('Z'.repeat(length) as RoomCode);
      assert.ok(BigInt(id) < 2n ** 63n);
      assert.ok(typeof id === 'bigint' || Number.isSafeInteger(id));
    }
  });
});
