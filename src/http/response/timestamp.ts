/** Moments as clients see them. */

/** The same moments are shown again and again, and writing one out takes longer than finding it here. */
const shown = new Map<number, string>();
const mostShown = 1000;

export function timestamp(moment: number): string {
  const known = shown.get(moment);
  if (known !== undefined) return known;
  if (shown.size >= mostShown) shown.clear();
  const text = new Date(moment).toISOString();
  shown.set(moment, text);
  return text;
}
