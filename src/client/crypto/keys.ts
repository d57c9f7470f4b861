/** Derives the keys of an encrypted room from its room key and its salt. */
import { equalBytes } from '@noble/ciphers/utils.js';
import { expand } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RoomCode } from '../../protocol/room-code.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { damaged, EncryptionError } from './errors.ts';
import type { RoomKey } from './room-key.ts';
import { scrypt } from './scrypt.ts';

/** Each has 32 bytes. All except `auth` never leave the device. */
export interface RoomKeys {
  /** Proves to the server that a device has the room key. */
  readonly auth: Uint8Array;
  /** Seals texts and edits. */
  readonly text: Uint8Array;
  /** Seals names and the metadata of files. */
  readonly meta: Uint8Array;
  /** The root of the keys of all files. */
  readonly file: Uint8Array;
}

/** A room whose key is known. */
export interface EncryptedRoom {
  readonly code: RoomCode;
  readonly keys: RoomKeys;
}

const saltBytes = 16;
const keyBytes = 32;

export const createSalt = (): Uint8Array => randomBytes(saltBytes);

/** Parses the salt that a server sends. */
export function parseSalt(text: string): Uint8Array {
  const salt = decodeBase64url(text);
  if (salt?.length !== saltBytes) throw damaged('The salt of the room');
  return salt;
}

/** Takes a few hundred milliseconds, without blocking the page. */
export async function deriveKeys(key: RoomKey, salt: Uint8Array, stretch = scrypt): Promise<RoomKeys> {
  if (salt.length !== saltBytes) throw new RangeError(`A salt has ${saltBytes} bytes.`);
  const master = await stretch(utf8ToBytes(key), concatBytes(utf8ToBytes('poproom/v1'), salt), keyBytes);
  const derive = (purpose: string) => expand(sha256, master, utf8ToBytes(`poproom/v1/${purpose}`), keyBytes);
  const keys = { auth: derive('auth'), text: derive('text'), meta: derive('meta'), file: derive('file') };
  master.fill(0);
  return keys;
}

/** The value of the header `X-Room-Auth`. */
export const authToken = ({ auth }: RoomKeys): string => encodeBase64url(auth);

/** Stored by the server, which cannot derive `auth` from it. */
export const verifierOf = ({ auth }: RoomKeys): string => encodeBase64url(sha256(auth));

/** Throws `KEY_WRONG` unless the verifier belongs to these keys. */
export function checkVerifier(keys: RoomKeys, verifier: string): void {
  const expected = decodeBase64url(verifier);
  if (expected && equalBytes(expected, sha256(keys.auth))) return;
  throw new EncryptionError('KEY_WRONG', 'The room key is not that of this room.');
}
