/** What two texts, or two lists of words, begin and end with alike. */

export interface CommonEdges {
  /** Lengths; they do not overlap. */
  start: number;
  end: number;
}

export function commonEdges(one: ArrayLike<string>, other: ArrayLike<string>): CommonEdges {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) start++;
  let end = 0;
  while (end < shortest - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return { start, end };
}
