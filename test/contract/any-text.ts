/** Well-formed text of any characters. (fast-check's own unit `binary` takes more than a second to warm up.) */
import fc from 'fast-check';
import type { TextEdit } from '../../src/text/edits.ts';

const anyCodePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
);

export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(anyCodePoint, { maxLength }).map((codePoints) => String.fromCodePoint(...codePoints));
}

/** An edit at a place of a text that is not known yet. */
export interface DrawnEdit {
  /** In percent of the text. */
  from: number;
  length: number;
  insert: string;
}

export const anyEdits: fc.Arbitrary<readonly DrawnEdit[]> = fc.array(
  fc.record({ from: fc.nat({ max: 99 }), length: fc.nat({ max: 30 }), insert: anyText(20) }),
  { maxLength: 4 },
);

/** Edits of this text at these places: ascending, without overlap, and never within a surrogate pair. */
export function editsOf(drawn: readonly DrawnEdit[], text: string): TextEdit[] {
  const characters = [...text];
  const offsetOf = (percent: number) =>
    characters.slice(0, Math.floor((Math.min(percent, 100) / 100) * characters.length)).join('').length;
  const edits: TextEdit[] = [];
  for (const { from, length, insert } of drawn.toSorted((a, b) => a.from - b.from)) {
    const edit = { from: offsetOf(from), to: offsetOf(from + length), insert };
    if (edit.from >= (edits.at(-1)?.to ?? 0)) edits.push(edit);
  }
  return edits;
}
