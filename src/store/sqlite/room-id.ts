/** Rooms have numeric ids: SQLite finds them by rowid, while a text key needs an index and a second lookup. */
import { codeSymbols, type RoomCode } from '../../core/room-code.ts';

export type RoomId = number | bigint;

/** More do not fit into a JavaScript number. */
const symbolsPerNumber = 10;
const bitsPerSymbol = 5n;

const values = new Uint8Array(128);
for (const [value, symbol] of [...codeSymbols].entries()) values[symbol.charCodeAt(0)] = value;

/** The code as a base 32 number of at most 61 bits. A leading 1 distinguishes `000000` from `0000000`. */
export function roomIdOf(code: RoomCode): RoomId {
  if (code.length <= symbolsPerNumber) return decode(code, 1);
  const [head, tail] = [code.slice(0, symbolsPerNumber), code.slice(symbolsPerNumber)];
  return (BigInt(decode(head, 1)) << (BigInt(tail.length) * bitsPerSymbol)) + BigInt(decode(tail, 0));
}

function decode(symbols: string, before: number): number {
  let number = before;
  for (let i = 0; i < symbols.length; i++) number = number * 32 + (values[symbols.charCodeAt(i)] as number);
  return number;
}
