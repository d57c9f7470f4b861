/** Counts the values in JSON without parsing it: parsing millions of values blocks the process and fills its memory. */

/** The largest message of a client has 1,000 edits of three fields. */
export const maxRequestValues = 10_000;

const [quote, backslash, comma, openArray, openObject] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Runs in one pass. The parser checks later whether the JSON is well-formed. */
export function hasMoreValues(json: string, maximum: number): boolean {
  if (json.length <= maximum) return false;
  let values = 0;
  for (let at = 0; at < json.length && values <= maximum; at++) {
    const character = json.charCodeAt(at);
    if (character === quote) at = endOfString(json, at + 1);
    else if (character === comma || character === openArray || character === openObject) values += 1;
  }
  return values > maximum;
}

function endOfString(json: string, start: number): number {
  let at = start;
  for (let character = json.charCodeAt(at); at < json.length && character !== quote; character = json.charCodeAt(at)) {
    at += character === backslash ? 2 : 1;
  }
  return at;
}
