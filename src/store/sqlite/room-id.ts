/** Rooms are found by number: one walk down SQLite's tree of rows, where a text would need an index and a second walk. */
import { codeSymbols, type RoomCode } from '../../core/room-code.ts';

export type RoomId = number | bigint;

/** More do not fit into a JavaScript number. */
const symbolsInANumber = 10;
const bitsOfASymbol = 5n;

const values = new Uint8Array(128);
for (const [value, symbol] of [...codeSymbols].entries()) values[symbol.charCodeAt(0)] = value;

/** What a code spells in base 32, of at most 61 bits. A digit before it tells `000000` from `0000000`. */
export function roomIdOf(code: RoomCode): RoomId {
  if (code.length <= symbolsInANumber) return spelled(code, 1);
  const [head, tail] = [code.slice(0, symbolsInANumber), code.slice(symbolsInANumber)];
  return (BigInt(spelled(head, 1)) << (BigInt(tail.length) * bitsOfASymbol)) + BigInt(spelled(tail, 0));
}

function spelled(symbols: string, before: number): number {
  let number = before;
  for (let i = 0; i < symbols.length; i++) number = number * 32 + (values[symbols.charCodeAt(i)] as number);
  return number;
}
