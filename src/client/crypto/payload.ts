/** The payloads of envelopes: text in UTF-8, after the hashes of earlier versions in a full text. */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hashBytes, maxRecentHashes } from '../../protocol/sealed.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { damaged } from './errors.ts';

export interface FullText {
  readonly text: string;
  /** The hashes of the versions before the one that `previous` names, newest first. */
  readonly recent: readonly string[];
}

export function encodeFullText({ text, recent }: FullText): Uint8Array {
  if (recent.length > maxRecentHashes) throw new RangeError(`A full text has at most ${maxRecentHashes} hashes.`);
  return concatBytes(Uint8Array.of(recent.length), ...recent.map(decodeHash), encodeText(text));
}

export function decodeFullText(bytes: Uint8Array): FullText {
  const [count = maxRecentHashes + 1] = bytes;
  const end = 1 + count * hashBytes;
  if (count > maxRecentHashes || end > bytes.length) throw damaged('The text');
  const recent = Array.from({ length: count }, (_, index) =>
    encodeBase64url(bytes.subarray(1 + index * hashBytes, 1 + (index + 1) * hashBytes)),
  );
  return { text: decodeText(bytes.subarray(end)), recent };
}

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

/** The bytes of the hash of an envelope. */
export function decodeHash(hash: string): Uint8Array {
  const bytes = decodeBase64url(hash);
  if (bytes?.length !== hashBytes) throw new RangeError(`The hash of a version has ${hashBytes} bytes.`);
  return bytes;
}
