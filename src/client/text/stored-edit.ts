/** Guesses whether a text contains an edit whose response was lost, if the log no longer shows it. */
import type { Changes } from '../../text/changes.ts';

/** Whether more than half of what an edit inserted is left after a later change. */
export function survives(edit: Changes, change: Changes): boolean {
  const removed: { from: number; to: number }[] = [];
  change.iterChangedRanges((from, to) => removed.push({ from, to }));
  let inserted = 0;
  let lost = 0;
  edit.iterChangedRanges((_fromBefore, _toBefore, from, to) => {
    inserted += to - from;
    for (const range of removed) lost += Math.max(0, Math.min(to, range.to) - Math.max(from, range.from));
  });
  return inserted > 2 * lost;
}
