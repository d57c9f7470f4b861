/** Reproducible random numbers. */
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';

export interface Chance {
  /** From 0 up to, and without, `below`. */
  number(below: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Another seed each time, told in the output; POPROOM_TEST_SEED repeats one. */
export function seededChance(t: TestContext): Chance {
  const seed = Number(process.env.POPROOM_TEST_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`to draw the same again: POPROOM_TEST_SEED=${seed}`);
  return chanceOf(seed);
}

/** The same draws for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = seed;

  /** Mulberry32. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const number = (below: number) => Math.floor(next() * below);
  return { number, pick: (from) => from[number(from.length)] as (typeof from)[number] };
}
