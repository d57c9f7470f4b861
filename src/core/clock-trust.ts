/**
 * Decides whether the wall clock can be trusted. Access to an expired room is rejected immediately, but only a steady
 * clock may delete it: a clock that jumps ten years ahead for a moment would delete every room.
 */
import type { Clock } from './ports.ts';

/** Adjustments by seconds are normal. After a jump of this size, the clock was wrong before or is wrong now. */
const leapMs = 5 * 60_000;
export const steadyAfterMs = 10 * 60_000;

export interface ClockTrust {
  /** Compares both clocks since the last call, and returns the difference in ms if it is a jump. */
  look(): number | undefined;
  /** Distrusts the clock until it has been steady long enough. */
  doubt(): void;
  isSteady(): boolean;
}

/** The monotonic clock stops while a machine sleeps, so waking up is indistinguishable from a jump. */
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
