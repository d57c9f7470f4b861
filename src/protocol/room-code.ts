/** What a room code looks like, and how people may type it. */

declare const canonical: unique symbol;
/** A code in its canonical form: Crockford base32 capitals. */
export type RoomCode = string & { readonly [canonical]: true };

export const codeSymbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const shortestCode = 6;
/** Enough for six billion rooms, and still a number of 64 bits. */
export const longestCode = 12;

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

const canonicalForm = new RegExp(`^[${codeSymbols}]{${shortestCode},${longestCode}}$`);
/** Checked before the case is changed: the capitals of `ß` are `SS`. */
const typedForm = /^[0-9A-Za-z\s-]{1,64}$/;
