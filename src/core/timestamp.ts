/** Times in responses and messages. */

/** Many requests share a timestamp: formatting one takes about a microsecond, a lookup a thirtieth of that. */
const cache = new Map<number, string>();
const maxCached = 1000;

export function toTimestamp(moment: number): string {
  const known = cache.get(moment);
  if (known !== undefined) return known;
  if (cache.size >= maxCached) cache.clear();
  const text = new Date(moment).toISOString();
  cache.set(moment, text);
  return text;
}

/** Whole seconds until a moment, at least one: a Retry-After of 0 would cause a busy loop. */
export const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1000));
