/** Counts the values in JSON without parsing it: parsing millions of values blocks the process and fills its memory. */

/** The largest message of a client has 1,000 edits of three fields. */
export const maxRequestValues = 10_000;

const [quote, backslash, comma, openArray, openObject] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

const encoder = new TextEncoder();

/**
 * Runs in one pass. The parser checks later whether the JSON is well-formed. Reading bytes takes a third of the time
 * of reading the characters of a string.
 */
export function hasMoreValues(json: string | Uint8Array, maximum: number): boolean {
  if (json.length <= maximum) return false;
  const bytes = typeof json === 'string' ? encoder.encode(json) : json;
  let values = 0;
  for (let at = 0; at < bytes.length && values <= maximum; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === comma || byte === openArray || byte === openObject) values += 1;
  }
  return values > maximum;
}

/** Escaped quotes that are this close are faster to find byte by byte. */
const closeBy = 16;

/** Skips to the next quote, which takes 1 ms for 6 MiB without one; 20 ms byte by byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; ) {
    const found = bytes.indexOf(quote, at);
    if (found < 0) return bytes.length;
    if (!isEscaped(bytes, at, found)) return found;
    if (found - at < closeBy) return endByteByByte(bytes, found + 1);
    at = found + 1;
  }
  return bytes.length;
}

function endByteByByte(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  for (let at = start; at < length; at++) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
  }
  return length;
}

/** Whether an odd number of backslashes precedes a position. No escape sequence begins before `start`. */
function isEscaped(bytes: Uint8Array, start: number, position: number): boolean {
  let at = position;
  while (at > start && bytes[at - 1] === backslash) at -= 1;
  return (position - at) % 2 === 1;
}
