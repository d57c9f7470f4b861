/** Room codes: short enough to type, long enough that guessing one is hopeless. */
import { randomInt } from 'node:crypto';
import { codeSymbols, longestCode, shortestCode } from '../protocol/room-code.ts';
import type { CodeLength } from './ports.ts';

export { codeSymbols, type RoomCode } from '../protocol/room-code.ts';

/** One guess in so many may meet a live room: 1,000 addresses at 20 misses an hour need a year on average. */
const oddsAgainstAGuess = 175_000_000;

export const codeLengths: readonly CodeLength[] = Array.from({ length: longestCode - shortestCode + 1 }, (_, i) => {
  const length = shortestCode + i;
  return { length, upTo: Math.ceil(codeSymbols.length ** length / oddsAgainstAGuess) - 1 };
});

/** Symbols for the longest code; the store takes as many of them as it needs. */
export function drawSymbols(): string {
  let drawn = '';
  for (let i = 0; i < longestCode; i++) drawn += codeSymbols[randomInt(codeSymbols.length)];
  return drawn;
}
