/** The keys of an encrypted room: derived from its room key and its salt, or from the fragment of a link. */
import { x25519 } from '@noble/curves/ed25519.js';
import { expand } from '@noble/hashes/hkdf.js';
import { scrypt as nobleScrypt, scryptAsync } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { LinkRole } from '../../protocol/link-rights.ts';
import { parseRoomCode, type RoomCode } from '../../protocol/room-code.ts';
import { EncryptionError } from '../error.ts';
import { decodeBase64url, decodeBytes, encodeBase64url } from './base64url.ts';
import { damaged } from './envelope.ts';
import { findNativeCrypto } from './native.ts';
import type { RoomKey } from './room-key.ts';

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
  /** The secret X25519 key for which holders of a drop link seal files. */
  readonly drop: Uint8Array;
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
  const salt = decodeBytes(text, saltBytes);
  if (!salt) throw damaged('The salt of the room');
  return salt;
}

/** Takes a few hundred milliseconds, without blocking the page. */
export async function deriveKeys(key: RoomKey, salt: Uint8Array, stretch = scrypt): Promise<RoomKeys> {
  if (salt.length !== saltBytes) throw new RangeError(`A salt has ${saltBytes} bytes.`);
  const master = await stretch(utf8ToBytes(key), concatBytes(utf8ToBytes('poproom/v1'), salt), keyBytes);
  const derive = (purpose: string) => expand(sha256, master, utf8ToBytes(`poproom/v1/${purpose}`), keyBytes);
  const keys = {
    auth: derive('auth'),
    text: derive('text'),
    meta: derive('meta'),
    file: derive('file'),
    drop: derive('drop'),
  };
  master.fill(0);
  return keys;
}

/** The value of the header `X-Room-Auth`; undefined for a reader, who is admitted by the link alone. */
export const authToken = ({ auth }: RoomKeys): string | undefined =>
  auth.length === 0 ? undefined : encodeBase64url(auth);

/** Stored by the server, which cannot derive `auth` from it. */
export const verifierOf = ({ auth }: RoomKeys): string => encodeBase64url(sha256(auth));

/** Of scrypt, which makes it expensive to guess a room key. Fixed by the scheme: a server could weaken parameters that it sends. */
const cost = { N: 2 ** 15, r: 8, p: 1 };

export function scrypt(password: Uint8Array, salt: Uint8Array, bytes: number): Promise<Uint8Array> {
  const native = findNativeCrypto();
  if (!native) return portableScrypt(password, salt, bytes);
  // Node runs it on another thread, and needs a little more than the 32 MiB of the algorithm.
  const limits = { ...cost, maxmem: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    native.scrypt(password, salt, bytes, limits, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** Gives way to other tasks every 10 ms, so that a page stays responsive. */
export function portableScrypt(password: Uint8Array, salt: Uint8Array, bytes: number): Promise<Uint8Array> {
  const run = () => scryptAsync(password, salt, { ...cost, dkLen: bytes, asyncTick: 10 });
  const { scheduler } = globalThis as { scheduler?: Partial<TaskScheduler> };
  // At a higher priority, Chromium would delay all timers until the end, and most frames.
  return scheduler?.postTask ? scheduler.postTask(run, { priority: 'background' }) : run();
}

/** A fifth faster, for a thread that has nothing else to do. */
export const blockingScrypt: typeof scrypt = async (password, salt, bytes) =>
  nobleScrypt(password, salt, { ...cost, dkLen: bytes });

/** Part of Chromium and Firefox. */
interface TaskScheduler {
  postTask<T>(task: () => Promise<T>, options: { priority: 'background' }): Promise<T>;
}

/** After `#`, which browsers do not send. A reader gets neither the room key nor `auth`, so it cannot become a member. */
export function fragmentOf({ code, keys }: EncryptedRoom, role: LinkRole): string {
  if (role === 'drop') return encodeBase64url(x25519.getPublicKey(keys.drop));
  return `${code}.${encodeBase64url(concatBytes(keys.text, keys.meta, keys.file))}`;
}

/** Returns the keys for reading, or the public key for dropping. Throws `KEY_WRONG` if it is not the fragment of a link. */
export function parseFragment(fragment: string) {
  const [first = '', second, ...rest] = fragment.split('.');
  const bytes = decodeBase64url(second ?? first);
  if (second === undefined && bytes?.length === keyBytes) return { role: 'drop' as const, publicKey: bytes };
  const code = parseRoomCode(first);
  if (!code || rest.length > 0 || bytes?.length !== 3 * keyBytes)
    throw new EncryptionError(
      'KEY_WRONG',
      'The part of the link after # is missing or incomplete. Copy the whole link.',
    );
  const [text, meta, file] = [0, 1, 2].map((n) => bytes.slice(n * keyBytes, (n + 1) * keyBytes));
  const none = new Uint8Array(0);
  return { role: 'read' as const, code, keys: { auth: none, drop: none, text, meta, file } as RoomKeys };
}
