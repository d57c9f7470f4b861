/** The format of room codes, and lenient parsing. */

declare const canonical: unique symbol;
/** A code in canonical form: Crockford base32 in upper case. */
export type RoomCode = string & { readonly [canonical]: true };

export const codeSymbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const shortestCode = 6;
/** Enough for six billion rooms, and fits into 64 bits. */
export const longestCode = 12;

/** The first symbol of every code of an encrypted room, and of no other code. */
export const encryptedCodeSymbol = 'E';

/** Whether the room of a code is encrypted. Clients trust the code, never the server, and ask for the key first. */
export const isEncryptedCode = (code: RoomCode): boolean => code.startsWith(encryptedCodeSymbol);

/** Parses a typed code: any case, spaces and dashes, O for 0, I and L for 1. */
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
/** Checked before the case is changed, because `ß` becomes `SS` in upper case. */
const typedForm = /^[0-9A-Za-z\s-]{1,64}$/;
