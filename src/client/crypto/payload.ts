/** The payloads of envelopes: text in UTF-8. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { damaged } from './errors.ts';

/** Throws for half a surrogate pair, which UTF-8 cannot represent. */
export function encodeText(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new TypeError('The text has half of a surrogate pair.');
  return utf8ToBytes(text);
}

export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw damaged('The text');
  }
}
