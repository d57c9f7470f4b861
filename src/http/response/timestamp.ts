/** Timestamps in responses. */

/** The same timestamps are sent repeatedly, and formatting one takes longer than a lookup. */
const cache = new Map<number, string>();
const maxCached = 1000;

export function timestamp(moment: number): string {
  const known = cache.get(moment);
  if (known !== undefined) return known;
  if (cache.size >= maxCached) cache.clear();
  const text = new Date(moment).toISOString();
  cache.set(moment, text);
  return text;
}
