/** The gzip files that the build writes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { gzipSmallest } from '../../scripts/gzip/index.ts';

describe('the compressed files of the page', () => {
  it('[SITE-6] contain what was compressed, whatever it is', () => {
    const repeated = fc
      .tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(400))
      .map(([part, n]) => Buffer.alloc(part.length * n, part));
    const random = fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes));
    const text = fc.string({ maxLength: 2_000 }).map((string) => Buffer.from(string));
    const bytes = fc.array(fc.oneof(repeated, random, text), { maxLength: 4 }).map((parts) => Buffer.concat(parts));
    fc.assert(
      fc.property(bytes, (original) => gunzipSync(gzipSmallest(original)).equals(original)),
      { numRuns: 15, examples: [[Buffer.alloc(0)], [Buffer.from('a')], [Buffer.alloc(3_000, 'x')]] },
    );
  });

  it('[SITE-6] are smaller than those of zlib', () => {
    const script = readFileSync(new URL('../../scripts/gzip/index.ts', import.meta.url));
    const [smallest, usual] = [gzipSmallest(script).length, gzipSync(script, { level: 9 }).length];
    assert.ok(smallest < usual, `${smallest} and ${usual} bytes`);
  });
});
