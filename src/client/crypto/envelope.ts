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
  paddedSize,
  envelopePrefix as prefix,
  tagBytes,
} from '../../protocol/sealed.ts';
import { EncryptionError } from '../error.ts';
import { attempt } from '../shapes.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';

/** Authenticated but not sealed: an envelope opens only with the same context. */
export interface EnvelopeContext {
  readonly kind: EnvelopeKind;
  readonly code: RoomCode;
  /** That of the text or the caret; 0 for everything else. */
  readonly version: number;
  /** The device id of a device name or a caret, the id of an upload; otherwise empty. */
  readonly subject?: string;
}

export interface EnvelopeContent {
  /** The hash of the previous envelope, or zeros. */
  readonly previous: Uint8Array;
  readonly payload: Uint8Array;
}

/** In error messages, where they differ from the kind. */
const names: Partial<Record<EnvelopeKind, string>> = { snapshot: 'text', device: 'name', room: 'name' };

/** Only test vectors give a nonce: it must never be used twice. */
export function sealEnvelope(
  key: Uint8Array,
  context: EnvelopeContext,
  { previous, payload }: EnvelopeContent,
  nonce: Uint8Array = randomBytes(nonceBytes),
): string {
  const padded = pad(concatBytes(previous, payload), minimumSizes[context.kind]);
  const sealed = xchacha20poly1305(key, nonce, associatedData(context)).encrypt(padded);
  return prefix + encodeBase64url(concatBytes(nonce, sealed));
}

/** Throws `DATA_DAMAGED` if the envelope does not open with this key and context. */
export function openEnvelope(key: Uint8Array, context: EnvelopeContext, envelope: string): EnvelopeContent {
  const error = () => damaged(`The ${names[context.kind] ?? context.kind}`);
  const minimum = minimumSizes[context.kind];
  const bytes = envelope.startsWith(prefix) ? decodeBase64url(envelope.slice(prefix.length)) : undefined;
  if (!bytes || bytes.length < nonceBytes + minimum + tagBytes) throw error();
  const [nonce, sealed] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes)];
  const padded = attempt(() => xchacha20poly1305(key, nonce, associatedData(context)).decrypt(sealed));
  const content = padded && unpad(padded, minimum);
  if (!content || content.length < hashBytes) throw error();
  return { previous: content.subarray(0, hashBytes), payload: content.subarray(hashBytes) };
}

/** The first 16 bytes of SHA-256 of the envelope, as base64url. */
export const hashOf = (envelope: string): string =>
  encodeBase64url(sha256(utf8ToBytes(envelope)).subarray(0, hashBytes));

/** The code has no NUL and the version has eight bytes, so different contexts have different bytes. */
function associatedData({ kind, code, version, subject = '' }: EnvelopeContext): Uint8Array {
  if (!Number.isSafeInteger(version) || version < 0) throw new RangeError('A version is a whole number.');
  const versionBytes = new Uint8Array(8);
  new DataView(versionBytes.buffer).setBigUint64(0, BigInt(version));
  return concatBytes(utf8ToBytes(`poproom/v1/${kind}\0${code}\0`), versionBytes, utf8ToBytes(subject));
}

const marker = 0x80;

/** Hides the exact size: appends 0x80 and zeros up to a size of Padmé, which adds at most 12 %. */
export function pad(bytes: Uint8Array, minimum: number): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(paddedSize(bytes.length + 1, minimum));
  padded.set(bytes);
  padded[bytes.length] = marker;
  return padded;
}

/** Returns undefined if the bytes are not the result of `pad`. */
export function unpad(padded: Uint8Array, minimum: number): Uint8Array | undefined {
  let end = padded.length - 1;
  while (end >= 0 && padded[end] === 0) end -= 1;
  if (padded[end] !== marker || padded.length !== paddedSize(end + 1, minimum)) return undefined;
  return padded.subarray(0, end);
}

/** Throws for half a surrogate pair, which UTF-8 cannot represent. */
export function encodeText(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new TypeError('The text has half of a surrogate pair.');
  return utf8ToBytes(text);
}

export function decodeText(bytes: Uint8Array): string {
  const text = attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  if (text === undefined) throw damaged('The text');
  return text;
}

/** `what` starts the message, for example "The text". */
export const damaged = (what: string): EncryptionError =>
  new EncryptionError('DATA_DAMAGED', `${what} cannot be decrypted. It was changed, or sealed with another key.`);
