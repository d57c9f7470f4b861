/** Envelopes: sealed texts, edits, names and file metadata, as `pop1.` and base64url of nonce, ciphertext and tag. */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RoomCode } from '../../protocol/room-code.ts';
import {
  type EnvelopeKind,
  hashBytes,
  minimumSizes,
  nonceBytes,
  envelopePrefix as prefix,
  tagBytes,
} from '../../protocol/sealed.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { damaged } from './errors.ts';
import { pad, unpad } from './padding.ts';

export { type EnvelopeKind, envelopeSize, hashBytes } from '../../protocol/sealed.ts';

/** Authenticated but not sealed: an envelope opens only with the same context. */
export interface EnvelopeContext {
  readonly kind: EnvelopeKind;
  readonly code: RoomCode;
  /** That of the text; 0 for everything else. */
  readonly version: number;
  /** The device id of a device name, the id of an upload; otherwise empty. */
  readonly subject?: string;
}

export interface EnvelopeContent {
  /** The hash of the previous envelope, or zeros. */
  readonly previous: Uint8Array;
  readonly payload: Uint8Array;
}

const names: Record<EnvelopeKind, string> = {
  ...{ text: 'text', snapshot: 'text', edit: 'edit', draft: 'draft' },
  ...{ file: 'file', device: 'name', room: 'name', upload: 'upload' },
};

export function sealEnvelope(key: Uint8Array, context: EnvelopeContext, content: EnvelopeContent): string {
  return sealWithNonce(key, context, content, randomBytes(nonceBytes));
}

/** For test vectors only: a nonce must never be used twice. */
export function sealWithNonce(
  key: Uint8Array,
  context: EnvelopeContext,
  { previous, payload }: EnvelopeContent,
  nonce: Uint8Array,
): string {
  const padded = pad(concatBytes(previous, payload), minimumSizes[context.kind]);
  const sealed = xchacha20poly1305(key, nonce, associatedData(context)).encrypt(padded);
  return prefix + encodeBase64url(concatBytes(nonce, sealed));
}

export function openEnvelope(key: Uint8Array, context: EnvelopeContext, envelope: string): EnvelopeContent {
  const content = tryOpenEnvelope(key, context, envelope);
  if (!content) throw damaged(`The ${names[context.kind]}`);
  return content;
}

/** Returns undefined if the envelope does not open with this key and context. */
export function tryOpenEnvelope(
  key: Uint8Array,
  context: EnvelopeContext,
  envelope: string,
): EnvelopeContent | undefined {
  const minimum = minimumSizes[context.kind];
  const bytes = envelope.startsWith(prefix) ? decodeBase64url(envelope.slice(prefix.length)) : undefined;
  if (!bytes || bytes.length < nonceBytes + minimum + tagBytes) return undefined;
  const padded = decrypt(key, context, bytes);
  const content = padded && unpad(padded, minimum);
  if (!content || content.length < hashBytes) return undefined;
  return { previous: content.subarray(0, hashBytes), payload: content.subarray(hashBytes) };
}

/** The first 16 bytes of SHA-256 of the envelope, as base64url. */
export const hashOf = (envelope: string): string =>
  encodeBase64url(sha256(utf8ToBytes(envelope)).subarray(0, hashBytes));

function decrypt(key: Uint8Array, context: EnvelopeContext, bytes: Uint8Array): Uint8Array | undefined {
  const [nonce, sealed] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes)];
  try {
    return xchacha20poly1305(key, nonce, associatedData(context)).decrypt(sealed);
  } catch {
    return undefined;
  }
}

/** The code has no NUL and the version has eight bytes, so different contexts have different bytes. */
function associatedData({ kind, code, version, subject = '' }: EnvelopeContext): Uint8Array {
  if (!Number.isSafeInteger(version) || version < 0) throw new RangeError('A version is a whole number.');
  const versionBytes = new Uint8Array(8);
  new DataView(versionBytes.buffer).setBigUint64(0, BigInt(version));
  return concatBytes(utf8ToBytes(`poproom/v1/${kind}\0${code}\0`), versionBytes, utf8ToBytes(subject));
}
