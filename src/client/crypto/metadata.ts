/** Seals and opens names, and everything about a file except its bytes. */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { expand, hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { LinkRole } from '../../protocol/link-rights.ts';
import type { EnvelopeKind } from '../../protocol/sealed.ts';
import { dropEnvelopePrefix, hashBytes, minimumSizes, nonceBytes, tagBytes } from '../../protocol/sealed.ts';
import { attempt, isWhole, parseJson } from '../shapes.ts';
import { decodeBase64url, decodeBytes, encodeBase64url } from './base64url.ts';
import { damaged, decodeText, encodeText, openEnvelope, pad, sealEnvelope, unpad } from './envelope.ts';
import type { EncryptedRoom } from './keys.ts';

/**
 * The key of the bytes derives from the salt, so the bytes of another file do not open with this metadata. Other people
 * in the room chose the names: clean them before you use them as a path.
 */
export interface FileMetadata {
  readonly name: string;
  /** The media type. */
  readonly type: string;
  readonly folder?: string | undefined;
  /** In bytes, without padding. */
  readonly size: number;
  /** 32 random bytes. Two files, or two versions of a file, must never have the same. */
  readonly salt: Uint8Array;
  /** Of a dropped file: the root of its key, instead of that of the room. */
  readonly key?: Uint8Array | undefined;
}

export const fileSaltBytes = 32;
/** Far beyond any disk, and all sizes with padding are still exact numbers. */
export const largestSize = 2 ** 50;

export const createFileSalt = (): Uint8Array => randomBytes(fileSaltBytes);

export const sealFileMetadata = (room: EncryptedRoom, { name, type, folder, size, salt }: FileMetadata): string =>
  seal(room, 'file', JSON.stringify({ name, type, folder, size, salt: encodeBase64url(salt) }));

/** Seals the metadata of a file for the members of a room, with the key of the file, which the dropper has drawn. */
export const sealDroppedMetadata = (publicKey: Uint8Array, { salt, key, ...file }: FileMetadata): string =>
  sealDrop(publicKey, JSON.stringify({ ...file, salt: encodeBase64url(salt), key: key && encodeBase64url(key) }));

export function openFileMetadata(room: EncryptedRoom, envelope: string): FileMetadata {
  const isDropped = envelope.startsWith(dropEnvelopePrefix);
  const metadata = readMetadata(parseJson(isDropped ? openDrop(room, envelope) : open(room, 'file', envelope)));
  // Only a dropped file has a key of its own.
  if (!metadata || (metadata.key !== undefined) !== isDropped) throw damaged('The metadata of a file');
  return metadata;
}

/** A name opens only with the same device id, so names cannot be swapped. */
export const sealDeviceName = (room: EncryptedRoom, deviceId: string, name: string): string =>
  seal(room, 'device', name, deviceId);

export const openDeviceName = (room: EncryptedRoom, deviceId: string, envelope: string): string =>
  open(room, 'device', envelope, deviceId);

/** The name of a link. It opens only with the same role, so that those of links with other rights cannot be swapped. */
export const sealLinkName = (room: EncryptedRoom, role: LinkRole, name: string): string =>
  seal(room, 'device', name, `link ${role}`);

export const openLinkName = (room: EncryptedRoom, role: LinkRole, envelope: string): string =>
  open(room, 'device', envelope, `link ${role}`);

type Positions = [number, number?];

/** A caret opens only with the same device id and version. All sealed carets have the same size. */
export const sealCaret = (room: EncryptedRoom, deviceId: string, version: number, positions: Positions): string =>
  seal(room, 'caret', JSON.stringify(positions), deviceId, version);

/** Throws if the caret does not open. */
export function openCaret(room: EncryptedRoom, deviceId: string, version: number, envelope: string): Positions {
  const positions = parseJson(open(room, 'caret', envelope, deviceId, version));
  if (!Array.isArray(positions) || positions.length < 1 || !positions.every(isWhole)) throw damaged('The caret');
  return positions as Positions;
}

export const sealRoomName = (room: EncryptedRoom, name: string): string => seal(room, 'room', name);

export const openRoomName = (room: EncryptedRoom, envelope: string): string => open(room, 'room', envelope);

/** Text that this device stores for itself, and never sends. */
export const sealDraft = (room: EncryptedRoom, draft: string): string => seal(room, 'draft', draft);

export const openDraft = (room: EncryptedRoom, envelope: string): string => open(room, 'draft', envelope);

/** Stored on this device to continue an upload. The salt must not come from the server, which could send that of another file. */
interface UnfinishedUpload {
  readonly salt: Uint8Array;
  /** A hash that differs if the file, or what its metadata contains, has changed. */
  readonly fingerprint: string;
}

export const sealUpload = (room: EncryptedRoom, uploadId: string, { salt, fingerprint }: UnfinishedUpload): string =>
  seal(room, 'upload', JSON.stringify({ salt: encodeBase64url(salt), fingerprint }), uploadId);

export function openUpload(room: EncryptedRoom, uploadId: string, envelope: string): UnfinishedUpload {
  const opened = parseJson(open(room, 'upload', envelope, uploadId));
  const { salt, fingerprint } = (opened ?? {}) as Partial<Record<keyof UnfinishedUpload, unknown>>;
  const bytes = decodeBytes(salt, fileSaltBytes);
  if (!bytes || typeof fingerprint !== 'string') throw damaged('The upload');
  return { salt: bytes, fingerprint };
}

/** A hash for `fingerprint`, of the description of a file and of some of its bytes. */
export async function hashFile(description: string, parts: Iterable<ReadableStream<Uint8Array>>): Promise<string> {
  const hash = sha256.create().update(sha256(utf8ToBytes(description)));
  for (const part of parts) {
    const reader = part.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) hash.update(read.value);
  }
  return encodeBase64url(hash.digest());
}

/** The same for equal texts, without revealing them: for the keys of values that this device stores. */
export const hideText = ({ keys }: EncryptedRoom, text: string): string =>
  encodeBase64url(expand(sha256, keys.meta, utf8ToBytes(`poproom/v1/hidden\0${text}`), 16));

function seal({ code, keys }: EncryptedRoom, kind: EnvelopeKind, text: string, subject = '', version = 0): string {
  const content = { previous: new Uint8Array(hashBytes), payload: encodeText(text) };
  return sealEnvelope(keys.meta, { kind, code, version, subject }, content);
}

function open({ code, keys }: EncryptedRoom, kind: EnvelopeKind, envelope: string, subject = '', version = 0): string {
  const { previous, payload } = openEnvelope(keys.meta, { kind, code, version, subject }, envelope);
  if (previous.some((byte) => byte !== 0)) throw damaged('The data');
  return decodeText(payload);
}

/** Ignores other fields, because a newer client may send more. */
function readMetadata(value: unknown): FileMetadata | undefined {
  const { name, type, folder, size, salt, key } = (value ?? {}) as Partial<Record<keyof FileMetadata, unknown>>;
  const [fileKey, saltBytes] = [decodeBytes(key, keyBytes), decodeBytes(salt, fileSaltBytes)];
  if (key !== undefined && !fileKey) return undefined;
  if (typeof name !== 'string' || typeof type !== 'string' || !saltBytes) return undefined;
  if (!isWhole(size) || (size as number) > largestSize) return undefined;
  if (folder !== undefined && typeof folder !== 'string') return undefined;
  const known = { name, type, ...(folder !== undefined && { folder }), size: size as number, salt: saltBytes };
  return fileKey ? { ...known, key: fileKey } : known;
}

const keyBytes = 32;
const context = utf8ToBytes('poproom/v1/drop');

/** Seals the metadata of a file for the members of a room. Throws `DATA_DAMAGED` for a public key of low order. */
export const sealDrop = (publicKey: Uint8Array, payload: string): string =>
  sealDropWith(x25519.utils.randomSecretKey(), randomBytes(nonceBytes), publicKey, payload);

/** For test vectors only: neither the secret key nor the nonce must be used twice. */
export function sealDropWith(ephemeralKey: Uint8Array, nonce: Uint8Array, publicKey: Uint8Array, payload: string) {
  const ephemeral = x25519.getPublicKey(ephemeralKey);
  const key = sharedKey(ephemeralKey, publicKey, ephemeral, publicKey);
  if (!key) throw damaged('The key of the link');
  const sealed = xchacha20poly1305(key, nonce, context).encrypt(pad(utf8ToBytes(payload), minimumSizes.file));
  return dropEnvelopePrefix + encodeBase64url(concatBytes(ephemeral, nonce, sealed));
}

/** Throws `DATA_DAMAGED` unless it was sealed for this room. */
export function openDrop({ keys: { drop: secret } }: EncryptedRoom, envelope: string): string {
  const error = () => damaged('The metadata of a file');
  const bytes = decodeBase64url(envelope.slice(dropEnvelopePrefix.length));
  // A reader does not have the secret.
  if (!bytes || secret.length === 0 || bytes.length < keyBytes + nonceBytes + tagBytes) throw error();
  const ephemeral = bytes.subarray(0, keyBytes);
  const nonce = bytes.subarray(keyBytes, keyBytes + nonceBytes);
  const key = sharedKey(secret, ephemeral, ephemeral, x25519.getPublicKey(secret));
  const sealed = bytes.subarray(keyBytes + nonceBytes);
  const padded = key && attempt(() => xchacha20poly1305(key, nonce, context).decrypt(sealed));
  const opened = padded && unpad(padded, minimumSizes.file);
  if (!opened) throw error();
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened);
}

/** Undefined for a public key of low order. Exported for test vectors. */
export function sharedKey(secretKey: Uint8Array, publicKey: Uint8Array, ephemeral: Uint8Array, ofRoom: Uint8Array) {
  const shared = attempt(() => x25519.getSharedSecret(secretKey, publicKey));
  return shared && hkdf(sha256, shared, concatBytes(ephemeral, ofRoom), context, keyBytes);
}
