/** The symbols of the `deflate` format: a byte, or a length and a distance; see RFC 1951. */

/** A byte has the distance 0. */
export interface Item {
  /** The byte, or the length of the match. */
  readonly value: number;
  readonly distance: number;
}

export const [literalCodes, distanceCodes, endOfBlock] = [286, 30, 256];

/** The first value of each code, and the number of extra bits. */
interface Range {
  readonly first: number;
  readonly bits: number;
}

const lengthRanges = ranges(3, 28, (index) => Math.max(0, (index >> 2) - 1));
lengthRanges.push({ first: 258, bits: 0 });
const distanceRanges = ranges(1, distanceCodes, (index) => Math.max(0, (index >> 1) - 1));

function ranges(start: number, count: number, bitsOf: (index: number) => number): Range[] {
  let first = start;
  return Array.from({ length: count }, (_, index) => {
    const range = { first, bits: bitsOf(index) };
    first += 2 ** range.bits;
    return range;
  });
}

export interface Coded {
  readonly code: number;
  readonly bits: number;
  readonly extra: number;
}

const lengthTable = table(lengthRanges, 258, 257);
const distanceTable = table(distanceRanges, 32_768, 0);

function table(all: readonly Range[], most: number, firstCode: number): Coded[] {
  let index = 0;
  return Array.from({ length: most + 1 }, (_, value) => {
    while (index + 1 < all.length && value >= (all[index + 1] as Range).first) index++;
    const { first, bits } = all[index] as Range;
    return { code: firstCode + index, bits, extra: value - first };
  });
}

export const codedLength = (length: number): Coded => lengthTable[length] as Coded;
export const codedDistance = (distance: number): Coded => distanceTable[distance] as Coded;

export interface Counts {
  readonly literals: number[];
  readonly distances: number[];
}

/** With the end of the block. */
export function countSymbols(items: readonly Item[]): Counts {
  const literals = new Array<number>(literalCodes).fill(0);
  const distances = new Array<number>(distanceCodes).fill(0);
  literals[endOfBlock] = 1;
  for (const { value, distance } of items) {
    const literal = distance === 0 ? value : codedLength(value).code;
    literals[literal] = (literals[literal] as number) + 1;
    if (distance === 0) continue;
    const { code } = codedDistance(distance);
    distances[code] = (distances[code] as number) + 1;
  }
  return { literals, distances };
}
