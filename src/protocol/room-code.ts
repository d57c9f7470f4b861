/** The format of room codes and of link ids, and lenient parsing. */

declare const canonical: unique symbol;
/** A code in canonical form: Crockford base32 in upper case. */
export type RoomCode = string & { readonly [canonical]: true };

export const codeSymbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const shortestCode = 6;
/** Enough for six billion rooms, and fits into 64 bits. */
export const longestCode = 12;

/** The first symbol of every code of an encrypted room and of the ids of its links, and of no others. */
export const encryptedCodeSymbol = 'E';

/** Whether the room of a code or a link is encrypted. Clients trust the code, never the server, and ask for the key first. */
export const isEncryptedCode = (code: RoomCode | LinkId): boolean => code.startsWith(encryptedCodeSymbol);

/** Parses a typed code: any case, spaces and dashes, O for 0, I and L for 1. */
export const parseRoomCode = (text: string): RoomCode | undefined =>
  parse(text, shortestCode, codeForm) as RoomCode | undefined;

/** The id of a link in canonical form: as long as a secret, because it needs no PIN and no key. */
export type LinkId = string & { readonly [canonical]: 'link' };

export const linkIdLength = 24;

/** Parses the id of a link as leniently as a room code. */
export const parseLinkId = (text: string): LinkId | undefined =>
  parse(text, linkIdLength, linkForm) as LinkId | undefined;

/** The canonical form of what requests have in place of `:roomId`. */
export const parseRoomId = (text: string): RoomCode | LinkId | undefined => parseRoomCode(text) ?? parseLinkId(text);

function parse(text: string, shortest: number, canonicalForm: RegExp): string | undefined {
  if (text.length < shortest) return undefined;
  if (canonicalForm.test(text)) return text;
  if (!typedForm.test(text)) return undefined;
  const folded = foldSymbols(text);
  return canonicalForm.test(folded) ? folded : undefined;
}

/** Without spaces and dashes, in upper case, with 0 for O and 1 for I and L. */
export const foldSymbols = (text: string): string =>
  text
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');

const codeForm = formOf(`${shortestCode},${longestCode}`);
const linkForm = formOf(linkIdLength);
function formOf(length: string | number): RegExp {
  return new RegExp(`^[${codeSymbols}]{${length}}$`);
}

/** Checked before the case is changed, because `ß` becomes `SS` in upper case. */
const typedForm = /^[0-9A-Za-z\s-]{1,64}$/;
