/** Room codes: short enough to type, long enough that guessing one is hopeless, forgiving on input. */
import { randomInt } from 'node:crypto';
import type { CodeLength } from './ports.ts';

declare const canonical: unique symbol;
/** A code in its canonical form: Crockford base32 capitals. */
export type RoomCode = string & { readonly [canonical]: true };

const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const shortest = 6;
const longest = 13;

/** One guess in so many may meet a live room: 1,000 addresses at 20 misses an hour need a year on average. */
const oddsAgainstAGuess = 175_000_000;

export const codeLengths: readonly CodeLength[] = Array.from({ length: longest - shortest + 1 }, (_, i) => {
  const length = shortest + i;
  return { length, upTo: Math.ceil(symbols.length ** length / oddsAgainstAGuess) - 1 };
});

/** Symbols for the longest code; the store takes as many of them as it needs. */
export function drawSymbols(): string {
  let drawn = '';
  for (let i = 0; i < longest; i++) drawn += symbols[randomInt(symbols.length)];
  return drawn;
}

/** Reads a code as a person types it: any case, spaces and dashes, O for 0, I and L for 1. */
export function parseRoomCode(text: string): RoomCode | undefined {
  if (canonicalForm.test(text)) return text as RoomCode;
  if (!typedForm.test(text)) return undefined;
  const folded = text
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return canonicalForm.test(folded) ? (folded as RoomCode) : undefined;
}

const canonicalForm = new RegExp(`^[${symbols}]{${shortest},${longest}}$`);
/** Checked before the case is changed: the capitals of `ß` are `SS`. */
const typedForm = /^[0-9A-Za-z\s-]{1,64}$/;
