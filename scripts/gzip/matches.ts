/** Finds repeated strings in a file, for the `gzip` format. */

export const [minLength, maxLength] = [3, 258];
const windowSize = 32_768;
/** Candidates per position. More of them take longer, and find next to nothing. */
const maxCandidates = 1_000;

/** The longest match of a position is the last; each entry has the nearest distance for its length. */
export type Matches = readonly { readonly length: number; readonly distance: number }[];

/** The matches at every position. */
export function findMatches(bytes: Uint8Array): Matches[] {
  const latest = new Map<number, number>();
  /** The position before with the same three bytes. */
  const previous = new Int32Array(bytes.length).fill(-1);
  return Array.from(bytes, (_, position) => {
    if (position + minLength > bytes.length) return [];
    const key = keyAt(bytes, position);
    previous[position] = latest.get(key) ?? -1;
    latest.set(key, position);
    return matchesAt(bytes, position, previous);
  });
}

function matchesAt(bytes: Uint8Array, position: number, previous: Int32Array): Matches {
  const matches: { length: number; distance: number }[] = [];
  let longest = minLength - 1;
  let candidate = previous[position] as number;
  for (let count = 0; candidate >= 0 && count < maxCandidates; count++) {
    const distance = position - candidate;
    if (distance > windowSize || longest === maxLength) break;
    const length = commonLength(bytes, candidate, position, longest);
    if (length > longest) {
      matches.push({ length, distance });
      longest = length;
    }
    candidate = previous[candidate] as number;
  }
  return matches;
}

/** Returns 0 if it is not longer than `longest`. */
function commonLength(bytes: Uint8Array, one: number, other: number, longest: number): number {
  if (bytes[one + longest] !== bytes[other + longest]) return 0;
  const most = Math.min(maxLength, bytes.length - other);
  let length = 0;
  while (length < most && bytes[one + length] === bytes[other + length]) length++;
  return length;
}

const keyAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
