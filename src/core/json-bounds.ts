/** Tells JSON that no message of the protocol can be, before it is parsed: parsing it could block everyone. */

/** The deepest message has three levels: an object, its list of edits, and an edit. */
const maxDepth = 8;
/** The longest has 1,000 edits, with seven of these each. */
const maxTokens = 10_000;

const [quote, backslash] = [0x22, 0x5c];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];

/** Parsing less than this takes a few milliseconds, whatever it is. */
const shortBytes = 128 * 1024;

/** In one pass, without allocating. Whether it is well-formed is for the parser to say. */
export function isBoundedJson(bytes: Uint8Array): boolean {
  return bytes.length < shortBytes || hasBounds(bytes);
}

export function hasBounds(bytes: Uint8Array): boolean {
  let depth = 0;
  let tokens = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === quote) i = endOfString(bytes, i + 1);
    else if (byte === openObject || byte === openArray) {
      depth += 1;
      tokens += 1;
    } else if (byte === closeObject || byte === closeArray) depth -= 1;
    else if (byte === comma || byte === colon) tokens += 1;
    if (depth > maxDepth || tokens > maxTokens) return false;
  }
  return true;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let i = from;
  while (i < bytes.length && bytes[i] !== quote) i += bytes[i] === backslash ? 2 : 1;
  return i;
}
