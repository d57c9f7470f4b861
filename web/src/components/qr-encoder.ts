/**
 * Encodes a link as a QR code (ISO/IEC 18004), in a fraction of the size of a library: only bytes, only the lowest level
 * of error correction, and only versions 1 to 10, which hold 271 bytes.
 */

/** The rows of modules, from the top; true for dark ones. */
export type Modules = boolean[][];

/** By version, from 1: the error correction bytes of each block, and the number of blocks. */
const eccSizes = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18];
const blockCounts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4];

export function encodeModules(text: string): Modules {
  const bytes = new TextEncoder().encode(text);
  const version = eccSizes.findIndex((_, index) => bytes.length + headerSize(index + 1) <= dataSize(index + 1)) + 1;
  if (version === 0) throw new RangeError('The text is too long for a QR code.');
  const codewords = interleave(toCodewords(bytes, version), version);
  const drawn = Array.from({ length: 8 }, (_, mask) => draw(version, codewords, mask));
  const penalties = drawn.map(penaltyOf);
  return drawn[penalties.indexOf(Math.min(...penalties))] as Modules;
}

/** Bytes for the mode and the length, rounded up. */
const headerSize = (version: number) => (version < 10 ? 2 : 3);

function totalSize(version: number): number {
  const aligned = Math.floor(version / 7) + 2;
  const alignment = version < 2 ? 0 : (25 * aligned - 10) * aligned - 55;
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version < 7 ? 0 : 36)) / 8);
}

const at = (list: readonly number[], index: number) => list[index] as number;
const eccSize = (version: number) => at(eccSizes, version - 1);
const blockCount = (version: number) => at(blockCounts, version - 1);
const dataSize = (version: number) => totalSize(version) - eccSize(version) * blockCount(version);

/** The mode, the length, the bytes, and padding. */
function toCodewords(bytes: Uint8Array, version: number): number[] {
  const binary = (value: number, width: number) => value.toString(2).padStart(width, '0');
  const length = binary(bytes.length, version < 10 ? 8 : 16);
  const bits = `0100${length}${Array.from(bytes, (byte) => binary(byte, 8)).join('')}0000`;
  const codewords = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  for (let pad = 0xec; codewords.length < dataSize(version); pad ^= 0xec ^ 0x11) codewords.push(pad);
  return codewords;
}

/** Splits the data into blocks, and takes a byte of each in turn: first the data, then the error correction. */
function interleave(data: readonly number[], version: number): number[] {
  const count = blockCount(version);
  const shortCount = count - (data.length % count);
  let end = 0;
  const blocks = Array.from({ length: count }, (_, index) => {
    const start = end;
    end += Math.floor(data.length / count) + (index < shortCount ? 0 : 1);
    return data.slice(start, end);
  });
  const divisor = divisorOf(eccSize(version));
  return [...inTurn(blocks), ...inTurn(blocks.map((block) => remainderOf(block, divisor)))];
}

function inTurn(blocks: readonly number[][]): number[] {
  const longest = Math.max(...blocks.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => blocks.flatMap((block) => block[index] ?? [])).flat();
}

/** In the field GF(2⁸) modulo x⁸ + x⁴ + x³ + x² + 1. */
function multiply(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((other >>> bit) & 1) * one;
  }
  return product;
}

/** The Reed-Solomon generator polynomial, without its first coefficient, which is 1. */
function divisorOf(degree: number): number[] {
  let divisor = [...Array(degree - 1).fill(0), 1];
  for (let i = 0, root = 1; i < degree; i++, root = multiply(root, 2)) {
    divisor = divisor.map((value, index) => multiply(value, root) ^ (divisor[index + 1] ?? 0));
  }
  return divisor;
}

function remainderOf(data: readonly number[], divisor: readonly number[]): number[] {
  return data.reduce<number[]>(
    (rest, byte) => divisor.map((value, index) => (rest[index + 1] ?? 0) ^ multiply(value, byte ^ at(rest, 0))),
    divisor.map(() => 0),
  );
}

function draw(version: number, codewords: readonly number[], mask: number): Modules {
  const size = version * 4 + 17;
  const modules: (boolean | undefined)[][] = Array.from({ length: size }, () => Array(size).fill(undefined));
  const set = (x: number, y: number, isDark: boolean) => {
    if (modules[y] && x >= 0 && x < size) modules[y][x] = isDark;
  };
  drawPatterns(version, size, set);
  drawFormat(mask, size, set);
  const isMasked = masks[mask] as Mask;
  let bit = 0;
  for (const [x, y] of zigzag(size)) {
    if (modules[y]?.[x] !== undefined) continue;
    set(x, y, (((at(codewords, bit >> 3) >>> (7 - (bit & 7))) & 1) === 1) !== isMasked(x, y));
    bit++;
  }
  return modules as Modules;
}

type SetModule = (x: number, y: number, isDark: boolean) => void;

function drawPatterns(version: number, size: number, set: SetModule): void {
  const square = (x: number, y: number, radius: number, light: readonly number[]) => {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const centers = alignmentCenters(version, size);
  const last = centers.at(-1);
  for (const x of centers)
    for (const y of centers)
      if (!(x === 6 && (y === 6 || y === last)) && !(x === last && y === 6)) square(x, y, 2, [1]);
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, [2, 4]);
  if (version < 7) return;
  const bits = (version << 12) | checkBits(version, 12, 0x1f25);
  for (let i = 0; i < 18; i++) {
    const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)];
    set(a, b, ((bits >>> i) & 1) === 1);
    set(b, a, ((bits >>> i) & 1) === 1);
  }
}

function alignmentCenters(version: number, size: number): number[] {
  if (version === 1) return [];
  return version < 7 ? [6, size - 7] : [6, (size - 1) / 2, size - 7];
}

/** The level of error correction and the mask, twice. */
function drawFormat(mask: number, size: number, set: SetModule): void {
  const format = 0b01000 | mask;
  const bits = ((format << 10) | checkBits(format, 10, 0x537)) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const isDark = ((bits >>> i) & 1) === 1;
    // Around the first finder pattern, without the timing patterns.
    if (i < 8) set(8, i < 6 ? i : i + 1, isDark);
    else set(i === 8 ? 7 : 14 - i, 8, isDark);
    if (i < 8) set(size - 1 - i, 8, isDark);
    else set(8, size - 15 + i, isDark);
  }
  set(8, size - 8, true);
}

function checkBits(value: number, count: number, polynomial: number): number {
  let rest = value;
  for (let i = 0; i < count; i++) rest = (rest << 1) ^ ((rest >>> (count - 1)) * polynomial);
  return rest;
}

/** Columns in pairs from the right, upwards and downwards in turn, without the column of the timing pattern. */
function* zigzag(size: number): Iterable<[x: number, y: number]> {
  for (let right = size - 1, isUp = true; right > 0; right -= right === 8 ? 3 : 2, isUp = !isUp)
    for (let i = 0; i < size; i++) for (const x of [right, right - 1]) yield [x, isUp ? size - 1 - i : i];
}

type Mask = (x: number, y: number) => boolean;

const masks: readonly Mask[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** How hard it is to read: long runs, blocks, what looks like a finder pattern, and an imbalance of dark and light. */
function penaltyOf(modules: Modules): number {
  const rows = modules.map((row) => row.map(Number).join(''));
  const columns = modules.map((_, x) => modules.map((row) => Number(row[x])).join(''));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    penalty += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let i = 1; i < rows.length; i++)
    for (let j = 1; j < rows.length; j++) {
      const block = `${rows[i - 1]?.slice(j - 1, j + 1)}${rows[i]?.slice(j - 1, j + 1)}`;
      if (block === '0000' || block === '1111') penalty += 3;
    }
  const dark = modules.flat().filter(Boolean).length / modules.length ** 2;
  return penalty + Math.floor(Math.abs(dark - 0.5) * 20) * 10;
}
