/** JSON from a server that is not trusted: parsed only where that cannot take more memory than its size explains. */

/** More than the longest text that a server may be set up for, with every character escaped. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** A snapshot of a full room has some two thousand. */
const maxValues = 100_000;
/** What is shorter is parsed without being looked at. */
const harmlessLength = 64 * 1024;

/** Undefined for anything that is not JSON, or has too much in it. */
export function parseJson(text: string): unknown {
  if (text.length > harmlessLength && !isBounded(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts what begins a value, outside of strings: a parser makes objects of it that are many times as large. */
function isBounded(text: string): boolean {
  if (text.length > maxJsonBytes) return false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === ',' || character === '[' || character === '{') values++;
    if (values > maxValues) return false;
  }
  return true;
}

/** Of the quote that ends the string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at;
  }
}
