/** Room codes: short enough to type, too long to guess. */
import {
  codeSymbols,
  encryptedCodeSymbol,
  type LinkId,
  linkIdLength,
  longestCode,
  shortestCode,
} from '../protocol/room-code.ts';
import type { CodeLength } from './ports/rooms.ts';

export { codeSymbols, type LinkId, type RoomCode } from '../protocol/room-code.ts';

export type RoomKind = 'plain' | 'encrypted';

/** The first symbols that codes of each kind may have. */
const firstSymbols: Record<RoomKind, string> = {
  plain: codeSymbols.replace(encryptedCodeSymbol, ''),
  encrypted: encryptedCodeSymbol,
};

/** At most one code in this many belongs to a room: 1,000 addresses with 20 misses per hour need a year on average. */
const oddsAgainstAGuess = 175_000_000;

/** Both are for the number of all unexpired rooms, so there are never more rooms of either kind. */
export const codeLengths = { plain: lengthsOf('plain'), encrypted: lengthsOf('encrypted') };

function lengthsOf(kind: RoomKind): CodeLength[] {
  return Array.from({ length: longestCode - shortestCode + 1 }, (_, i) => {
    const length = shortestCode + i;
    const codes = firstSymbols[kind].length * codeSymbols.length ** (length - 1);
    return { length, upTo: Math.ceil(codes / oddsAgainstAGuess) - 1 };
  });
}

/** Symbols for the longest code. The store uses as many as it needs. */
export function drawSymbols(kind: RoomKind = 'plain', length = longestCode): string {
  let drawn = symbolOf(firstSymbols[kind]);
  while (drawn.length < length) drawn += symbolOf(codeSymbols);
  return drawn;
}

/** Like a code, the id of a link says whether its room is encrypted. */
export const drawLinkId = (kind: RoomKind): LinkId => drawSymbols(kind, linkIdLength) as LinkId;

/** Node's crypto is loaded with the first code: the writer thread, which draws none, starts 15 ms earlier without it. */
function symbolOf(symbols: string): string {
  const { randomInt } = process.getBuiltinModule('node:crypto');
  return symbols.charAt(randomInt(symbols.length));
}
