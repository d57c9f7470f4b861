/** Reproducible random numbers. */
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';

export interface Random {
  /** An integer from 0 to `below`, exclusive. */
  number(below: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Prints a new seed for each run. Set POPROOM_TEST_SEED to repeat a run. */
export function seededRandom(t: TestContext): Random {
  const seed = Number(process.env.POPROOM_TEST_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`to repeat this run: POPROOM_TEST_SEED=${seed}`);
  return randomFromSeed(seed);
}

/** Returns the same sequence for the same seed. */
export function randomFromSeed(seed: number): Random {
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
