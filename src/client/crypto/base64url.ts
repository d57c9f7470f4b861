/** Base64url without padding (RFC 4648, section 5). Every string of bytes has exactly one accepted form. */

const symbols = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const codes = new TextEncoder().encode(symbols);
const values = new Int8Array(128).fill(-1);
for (const [value, code] of codes.entries()) values[code] = value;

export function encodeBase64url(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  for (let at = 0, from = 0; at < text.length; from += 3) {
    const group = (byteAt(bytes, from) << 16) | (byteAt(bytes, from + 1) << 8) | byteAt(bytes, from + 2);
    for (let shift = 18; shift >= 0 && at < text.length; shift -= 6)
      text[at++] = codes[(group >> shift) & 63] as number;
  }
  return new TextDecoder().decode(text);
}

/** Returns undefined for anything that `encodeBase64url` does not return, such as padding or unused bits that are set. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [bits, bitCount, at] = [0, 0, 0];
  for (let from = 0; from < text.length; from += 1) {
    const value = values[text.charCodeAt(from)] ?? -1;
    if (value < 0) return undefined;
    bits = ((bits << 6) | value) & 0xfff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[at++] = bits >> bitCount;
  }
  const unused = bits & ((1 << bitCount) - 1);
  return unused === 0 ? bytes : undefined;
}

/** Returns undefined for anything but this number of bytes as base64url. */
export function decodeBytes(text: unknown, length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = typeof text === 'string' ? decodeBase64url(text) : undefined;
  return bytes?.length === length ? bytes : undefined;
}

const byteAt = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;
