/** Links of an encrypted room: the keys in their fragments, and files that a dropper seals for the members alone. */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { LinkRole } from '../../protocol/link-rights.ts';
import { parseRoomCode, type RoomCode } from '../../protocol/room-code.ts';
import { dropEnvelopePrefix, minimumSizes, nonceBytes, tagBytes } from '../../protocol/sealed.ts';
import { EncryptionError } from '../error.ts';
import { attempt } from '../shapes.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { damaged, pad, unpad } from './envelope.ts';
import type { EncryptedRoom, RoomKeys } from './keys.ts';

const keyBytes = 32;
const context = utf8ToBytes('poproom/v1/drop');

/** The content of a link's fragment: the keys for reading, or the public key for dropping. */
type LinkKeys =
  | { readonly role: 'read'; readonly code: RoomCode; readonly keys: RoomKeys }
  | { readonly role: 'drop'; readonly publicKey: Uint8Array };

/** After `#`, which browsers do not send. A reader gets neither the room key nor `auth`, so it cannot become a member. */
export function fragmentOf({ code, keys }: EncryptedRoom, role: LinkRole): string {
  if (role === 'drop') return encodeBase64url(x25519.getPublicKey(keys.drop));
  return `${code}.${encodeBase64url(concatBytes(keys.text, keys.meta, keys.file))}`;
}

/** Throws `KEY_WRONG` if it is not the fragment of a link. */
export function parseFragment(fragment: string): LinkKeys {
  const [first = '', second, ...rest] = fragment.split('.');
  const bytes = decodeBase64url(second ?? first);
  if (second === undefined && bytes?.length === keyBytes) return { role: 'drop', publicKey: bytes };
  const code = parseRoomCode(first);
  if (!code || rest.length > 0 || bytes?.length !== 3 * keyBytes) throw wrongFragment();
  const [text, meta, file] = [0, 1, 2].map((n) => bytes.slice(n * keyBytes, (n + 1) * keyBytes));
  const none = new Uint8Array(0);
  return { role: 'read', code, keys: { auth: none, drop: none, text, meta, file } as RoomKeys };
}

const wrongFragment = () =>
  new EncryptionError('KEY_WRONG', 'The part of the link after # is missing or incomplete. Copy the whole link.');

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
export function openDrop({ keys }: EncryptedRoom, envelope: string): string {
  const opened = tryOpen(keys.drop, envelope);
  if (!opened) throw damaged('The metadata of a file');
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened);
}

function tryOpen(secret: Uint8Array, envelope: string): Uint8Array | undefined {
  const bytes = decodeBase64url(envelope.slice(dropEnvelopePrefix.length));
  // A reader does not have the secret.
  if (!bytes || secret.length === 0 || bytes.length < keyBytes + nonceBytes + tagBytes) return undefined;
  const ephemeral = bytes.subarray(0, keyBytes);
  const nonce = bytes.subarray(keyBytes, keyBytes + nonceBytes);
  const key = sharedKey(secret, ephemeral, ephemeral, x25519.getPublicKey(secret));
  const sealed = bytes.subarray(keyBytes + nonceBytes);
  const padded = key && attempt(() => xchacha20poly1305(key, nonce, context).decrypt(sealed));
  return padded && unpad(padded, minimumSizes.file);
}

/** Undefined for a public key of low order. Exported for test vectors. */
export function sharedKey(secretKey: Uint8Array, publicKey: Uint8Array, ephemeral: Uint8Array, ofRoom: Uint8Array) {
  const shared = attempt(() => x25519.getSharedSecret(secretKey, publicKey));
  return shared && hkdf(sha256, shared, concatBytes(ephemeral, ofRoom), context, keyBytes);
}
