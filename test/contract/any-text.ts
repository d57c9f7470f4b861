/** Well-formed text of any characters. (fast-check's own unit `binary` takes more than a second to warm up.) */
import fc from 'fast-check';

const anyCodePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
);

export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(anyCodePoint, { maxLength }).map((codePoints) => String.fromCodePoint(...codePoints));
}
