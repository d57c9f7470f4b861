/** The key of an encrypted room: 15 random symbols of Crockford's base32 and a check symbol. */
import { sha256 } from '@noble/hashes/sha2.js';
import { randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { codeSymbols, foldSymbols } from '../../protocol/room-code.ts';
import { EncryptionError } from '../error.ts';

declare const canonical: unique symbol;
/** A room key in canonical form: 16 symbols in upper case, with a correct check symbol. */
export type RoomKey = string & { readonly [canonical]: true };

const randomSymbols = 15;

export function generateRoomKey(): RoomKey {
  // 32 divides 256, so all symbols are equally likely.
  const symbols = Array.from(randomBytes(randomSymbols), symbolFor).join('');
  return `${symbols}${checkSymbol(symbols)}` as RoomKey;
}

/** As people read and type it: `H4T9-WZ3B-NQ6Y-RC88`. */
export const formatRoomKey = (key: RoomKey): string => key.replace(/.{4}(?=.)/g, '$&-');

/** Parses a typed key as leniently as a room code: any case, spaces and dashes, O for 0, I and L for 1. */
export function parseRoomKey(text: string): RoomKey {
  const key = typedForm.test(text) ? foldSymbols(text) : '';
  if (!canonicalForm.test(key)) {
    throw new EncryptionError('KEY_MALFORMED', 'A room key has 16 letters and digits, such as H4T9-WZ3B-NQ6Y-RC88.');
  }
  if (key.at(-1) !== checkSymbol(key.slice(0, randomSymbols))) {
    throw new EncryptionError('KEY_MISTYPED', 'The room key has a typo. Compare it with the original.');
  }
  return key as RoomKey;
}

const canonicalForm = new RegExp(`^[${codeSymbols}]{${randomSymbols + 1}}$`);
/** Checked before the case is changed, because `ß` becomes `SS` in upper case. */
const typedForm = /^[0-9A-Za-z\s\p{Pd}]{1,64}$/u;

/** The first five bits of a hash. It detects 31 of 32 typos before they cost an attempt on the server. */
const checkSymbol = (symbols: string): string =>
  symbolFor((sha256(utf8ToBytes(`poproom/v1/check${symbols}`))[0] as number) >> 3);

const symbolFor = (value: number): string => codeSymbols.charAt(value & 31);
