/**
 * Compresses to the `gzip` format, smaller than zlib does: like Zopfli, it searches the cheapest way to write a file
 * instead of taking the next match. It is slow, so only for files that are compressed once.
 */
import { crc32, gunzipSync } from 'node:zlib';
import { blockSize, writeBlock } from './block.ts';
import { idealCosts } from './codes.ts';
import { findMatches, type Matches, maxLength, minLength } from './matches.ts';
import { type Coded, codedDistance, codedLength, countSymbols, type Item } from './symbols.ts';

/** How often the search is repeated: to find where to split the file, and for each block. */
const [roughly, precisely] = [2, 8];
/** In items. A shorter block does not pay for its codes. */
const minBlock = 1_000;
const splitStep = 250;
/** For a symbol in the table of the codes. */
const bitsPerCode = 4;

export function gzipSmallest(bytes: Uint8Array): Buffer {
  const matches = findMatches(bytes);
  const whole = cheapest(bytes, matches, { from: 0, to: bytes.length }, roughly);
  const blocks = split(whole).map((block) => cheapest(bytes, matches, block, precisely));
  const compressed = toGzip(bytes, blocks);
  if (!gunzipSync(compressed).equals(bytes)) throw new Error('The compressed file differs from the original.');
  return compressed;
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/** Repeats the search with the costs of the last result, which converges after a few times. */
function cheapest(bytes: Uint8Array, matches: readonly Matches[], part: Part, iterations: number): Item[] {
  let items = search(bytes, matches, part, { literals: flatCosts(286, 8), distances: flatCosts(30, 5) });
  let best = { items, size: blockSize(items) };
  for (let i = 0; i < iterations; i++) {
    const { literals, distances } = countSymbols(items);
    items = search(bytes, matches, part, { literals: idealCosts(literals), distances: idealCosts(distances) });
    const size = blockSize(items);
    if (size < best.size) best = { items, size };
  }
  return best.items;
}

const flatCosts = (count: number, cost: number): number[] => new Array<number>(count).fill(cost);

interface Costs {
  readonly literals: readonly number[];
  readonly distances: readonly number[];
}

/** The cheapest path from the start to the end, by dynamic programming. */
function search(bytes: Uint8Array, matches: readonly Matches[], { from, to }: Part, costs: Costs): Item[] {
  const total = new Float64Array(to - from + 1).fill(Number.POSITIVE_INFINITY);
  const values = new Uint16Array(to - from + 1);
  const distances = new Uint16Array(to - from + 1);
  total[0] = 0;
  const lengthCosts = Float64Array.from({ length: maxLength + 1 }, (_, length) =>
    costOf(codedLength(length), costs.literals),
  );
  const offer = (end: number, cost: number, value: number, distance: number) => {
    if (end > to || cost >= (total[end - from] as number)) return;
    total[end - from] = cost;
    values[end - from] = value;
    distances[end - from] = distance;
  };
  for (let at = from; at < to; at++) {
    const before = total[at - from] as number;
    const byte = bytes[at] as number;
    offer(at + 1, before + (costs.literals[byte] as number), byte, 0);
    let shortest = minLength;
    for (const { length: longest, distance } of matches[at] as Matches) {
      const reached = before + costOf(codedDistance(distance), costs.distances);
      for (let length = shortest; length <= longest; length++)
        offer(at + length, reached + (lengthCosts[length] as number), length, distance);
      shortest = longest + 1;
    }
  }
  return path(values, distances);
}

const costOf = ({ code, bits }: Coded, costs: readonly number[]): number => (costs[code] as number) + bits;

/** Reads the path from its end. */
function path(values: Uint16Array, distances: Uint16Array): Item[] {
  const items: Item[] = [];
  for (let at = values.length - 1; at > 0; ) {
    const [value, distance] = [values[at] as number, distances[at] as number];
    items.push({ value, distance });
    at -= distance === 0 ? 1 : value;
  }
  return items.reverse();
}

/** Splits the items where two blocks are smaller than one, as parts of the file. */
function split(items: readonly Item[], from = 0): Part[] {
  const at = bestSplit(items);
  if (at === undefined) return [{ from, to: from + sizeOf(items) }];
  const [first, second] = [items.slice(0, at), items.slice(at)];
  return [...split(first, from), ...split(second, from + sizeOf(first))];
}

function bestSplit(items: readonly Item[]): number | undefined {
  let best: { at: number | undefined; size: number } = { at: undefined, size: estimatedSize(items) };
  for (let at = minBlock; at <= items.length - minBlock; at += splitStep) {
    const size = estimatedSize(items.slice(0, at)) + estimatedSize(items.slice(at));
    if (size < best.size) best = { at, size };
  }
  return best.at;
}

/** In bits, without the extra bits of the items, which do not depend on the block. */
function estimatedSize(items: readonly Item[]): number {
  const { literals, distances } = countSymbols(items);
  return idealSize(literals) + idealSize(distances);
}

function idealSize(counts: readonly number[]): number {
  const costs = idealCosts(counts);
  return counts.reduce((size, count, symbol) => size + (count && count * (costs[symbol] as number) + bitsPerCode), 0);
}

const sizeOf = (items: readonly Item[]): number =>
  items.reduce((sum, { value, distance }) => sum + (distance === 0 ? 1 : value), 0);

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);

function toGzip(bytes: Uint8Array, blocks: readonly (readonly Item[])[]): Buffer {
  const written: number[] = [];
  let [pending, count] = [0, 0];
  const write = (value: number, bits: number) => {
    pending += value * 2 ** count;
    count += bits;
    for (; count >= 8; count -= 8) {
      written.push(pending & 255);
      pending = Math.floor(pending / 256);
    }
  };
  for (const [index, items] of blocks.entries()) writeBlock(write, items, index === blocks.length - 1);
  write(0, (8 - count) % 8);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([header, Buffer.from(written), trailer]);
}
