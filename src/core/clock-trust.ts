/**
 * Whether the wall clock is to be believed. What it says is over is refused at once, but only a clock that has been
 * steady may have it deleted: one that leaps ten years ahead for a moment would take every room along.
 */
import type { Clock } from './ports.ts';

/** Clocks are put right by seconds all the time; by this much, one was wrong before or is wrong now. */
const leapMs = 5 * 60_000;
export const steadyAfterMs = 10 * 60_000;

export interface ClockTrust {
  /** Since the last look both clocks must have gone equally far; answers by how much they did not, if that is a leap. */
  look(): number | undefined;
  /** From here on the clock has to prove itself. */
  doubt(): void;
  isSteady(): boolean;
}

/** The monotonic clock stands still while a machine sleeps, so waking up is a leap too: nobody can tell the two apart. */
export function watchClock(clock: Clock, monotonic: Clock): ClockTrust {
  let last: { wall: number; steady: number } | undefined;
  let steadyAt = Number.NEGATIVE_INFINITY;

  function doubt(): void {
    steadyAt = monotonic() + steadyAfterMs;
  }

  return {
    doubt,
    look() {
      const seen = { wall: clock(), steady: monotonic() };
      const leapt = last ? seen.wall - last.wall - (seen.steady - last.steady) : 0;
      last = seen;
      if (Math.abs(leapt) < leapMs) return undefined;
      doubt();
      return leapt;
    },
    isSteady: () => monotonic() >= steadyAt,
  };
}
