/** Times in responses and messages. */

/** Many timestamps fall in the same second. Formatting one takes two microseconds, a lookup a tenth of that. */
const seconds = new Map<number, string>();
const maxCached = 1000;

export function toTimestamp(moment: number): string {
  const second = Math.floor(moment / 1000);
  const known = seconds.get(second);
  if (known !== undefined) return `${known}${String(Math.floor(moment) - 1000 * second).padStart(3, '0')}Z`;
  if (seconds.size >= maxCached) seconds.clear();
  seconds.set(second, new Date(1000 * second).toISOString().slice(0, -4));
  return toTimestamp(moment);
}

/** Whole seconds until a moment, at least one: a Retry-After of 0 would cause a busy loop. */
export const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1000));
