/** Room codes: short enough to type, too long to guess. */
import { randomInt } from 'node:crypto';
import { codeSymbols, longestCode, shortestCode } from '../protocol/room-code.ts';
import type { CodeLength } from './ports.ts';

export { codeSymbols, type RoomCode } from '../protocol/room-code.ts';

/** At most one code in this many belongs to a room: 1,000 addresses with 20 misses per hour need a year on average. */
const oddsAgainstAGuess = 175_000_000;

export const codeLengths: readonly CodeLength[] = Array.from({ length: longestCode - shortestCode + 1 }, (_, i) => {
  const length = shortestCode + i;
  return { length, upTo: Math.ceil(codeSymbols.length ** length / oddsAgainstAGuess) - 1 };
});

/** Symbols for the longest code. The store uses as many as it needs. */
export function drawSymbols(): string {
  let drawn = '';
  for (let i = 0; i < longestCode; i++) drawn += codeSymbols[randomInt(codeSymbols.length)];
  return drawn;
}
