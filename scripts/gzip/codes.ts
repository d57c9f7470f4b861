/** Huffman codes of limited length, and their costs; see RFC 1951. */

/** The lengths of the codes for symbols with these counts, by the package-merge algorithm. */
export function codeLengths(counts: readonly number[], maxBits: number): number[] {
  const lengths = counts.map(() => 0);
  const leaves = counts
    .map((weight, symbol) => ({ weight, symbols: [symbol] }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => one.weight - other.weight);
  if (leaves.length <= 1) {
    for (const { symbols } of leaves) lengths[symbols[0] as number] = 1;
    return lengths;
  }
  let packages = leaves;
  for (let bit = 1; bit < maxBits; bit++)
    packages = [...leaves, ...paired(packages)].sort((a, b) => a.weight - b.weight);
  for (const { symbols } of packages.slice(0, 2 * leaves.length - 2))
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] as number) + 1;
  return lengths;
}

interface Package {
  weight: number;
  symbols: number[];
}

function paired(packages: readonly Package[]): Package[] {
  const pairs: Package[] = [];
  for (let i = 0; i + 1 < packages.length; i += 2) {
    const [one, other] = [packages[i] as Package, packages[i + 1] as Package];
    pairs.push({ weight: one.weight + other.weight, symbols: [...one.symbols, ...other.symbols] });
  }
  return pairs;
}

/** The canonical codes for these lengths, with their bits reversed, as they are written. */
export function codesOf(lengths: readonly number[]): number[] {
  let code = 0;
  const codes = lengths.map(() => 0);
  for (let bits = 1; bits <= 15; bits++) {
    for (const [symbol, length] of lengths.entries()) if (length === bits) codes[symbol] = reversed(code++, bits);
    code <<= 1;
  }
  return codes;
}

function reversed(code: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result |= ((code >> bit) & 1) << (bits - 1 - bit);
  return result;
}

/** The number of bits per symbol if the codes were ideal. */
export function idealCosts(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rare = Math.log2(Math.max(1, total));
  return counts.map((count) => (count === 0 ? rare : Math.log2(total / count)));
}
