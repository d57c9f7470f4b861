/** Writes one block of the `deflate` format with its own Huffman codes; see RFC 1951. */
import { codeLengths, codesOf } from './codes.ts';
import {
  codedDistance,
  codedLength,
  countSymbols,
  distanceCodes,
  endOfBlock,
  type Item,
  literalCodes,
} from './symbols.ts';

export type Write = (value: number, bits: number) => void;

const codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

export function writeBlock(write: Write, items: readonly Item[], isLast: boolean): void {
  const counts = countSymbols(items);
  const literals = codeLengths(counts.literals, 15);
  const distances = codeLengths(counts.distances, 15);
  write(isLast ? 1 : 0, 1);
  write(2, 2);
  writeCodes(write, literals, distances);
  writeItems(write, items, literals, distances);
}

/** The number of bits that `writeBlock` writes. */
export function blockSize(items: readonly Item[]): number {
  let size = 0;
  writeBlock((_, bits) => (size += bits), items, false);
  return size;
}

function writeItems(
  write: Write,
  items: readonly Item[],
  literals: readonly number[],
  distances: readonly number[],
): void {
  const [literalBits, distanceBits] = [codesOf(literals), codesOf(distances)];
  const writeLiteral = (code: number) => write(literalBits[code] as number, literals[code] as number);
  for (const { value, distance } of items) {
    if (distance === 0) {
      writeLiteral(value);
      continue;
    }
    const length = codedLength(value);
    writeLiteral(length.code);
    write(length.extra, length.bits);
    const far = codedDistance(distance);
    write(distanceBits[far.code] as number, distances[far.code] as number);
    write(far.extra, far.bits);
  }
  writeLiteral(endOfBlock);
}

/** The lengths of the codes, which have Huffman codes themselves. */
function writeCodes(write: Write, literals: readonly number[], distances: readonly number[]): void {
  const literalCount = Math.max(257, used(literals, literalCodes));
  const distanceCount = Math.max(1, used(distances, distanceCodes));
  const runs = toRuns([...literals.slice(0, literalCount), ...distances.slice(0, distanceCount)]);
  const counts = new Array<number>(19).fill(0);
  for (const { symbol } of runs) counts[symbol] = (counts[symbol] as number) + 1;
  const lengths = codeLengths(counts, 7);
  const codes = codesOf(lengths);
  const inOrder = codeLengthOrder.map((symbol) => lengths[symbol] as number);
  const orderCount = Math.max(4, used(inOrder, 19));
  write(literalCount - 257, 5);
  write(distanceCount - 1, 5);
  write(orderCount - 4, 4);
  for (const length of inOrder.slice(0, orderCount)) write(length, 3);
  for (const { symbol, extra, bits } of runs) {
    write(codes[symbol] as number, lengths[symbol] as number);
    write(extra, bits);
  }
}

function used(lengths: readonly number[], most: number): number {
  let count = most;
  while (count > 0 && !lengths[count - 1]) count--;
  return count;
}

interface Run {
  readonly symbol: number;
  readonly extra: number;
  readonly bits: number;
}

/** 16 repeats the last length 3 to 6 times, 17 and 18 stand for 3 to 10 and 11 to 138 zeros. */
function toRuns(lengths: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < lengths.length; ) {
    const symbol = lengths[at] as number;
    let count = 1;
    while (lengths[at + count] === symbol) count++;
    at += count;
    if (symbol !== 0) {
      runs.push({ symbol, extra: 0, bits: 0 });
      count -= 1;
    }
    while (count >= 3) {
      const [repeat, bits, least, most] = symbol !== 0 ? [16, 2, 3, 6] : count > 10 ? [18, 7, 11, 138] : [17, 3, 3, 10];
      const length = Math.min(count, most as number);
      runs.push({ symbol: repeat as number, extra: length - (least as number), bits: bits as number });
      count -= length;
    }
    for (; count > 0; count--) runs.push({ symbol, extra: 0, bits: 0 });
  }
  return runs;
}
