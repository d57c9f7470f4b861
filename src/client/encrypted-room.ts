/** Rooms of callers who have a room key, or a code that needs one. The code of the encryption is loaded when they are first used. */
import { parseLinkId, parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
import type { SeenVersion } from '../protocol/sealed.ts';
import type { EncryptedRoom } from './crypto/keys.ts';
import { PoproomError } from './error.ts';
import { type LiveOptions, openLive } from './live-channel.ts';
import type { RoomBase } from './room.ts';
import { type RoomAccess, randomId, roomPath } from './room-access.ts';
import type { KeySource, Unlocked } from './sealed/index.ts';
import type { Transport } from './transport.ts';

export const loadEncryption = () => import('./sealed/index.ts');

export interface KeyOptions extends Omit<KeySource, 'key'> {
  /** Without a key, everything fails with `KEY_REQUIRED`, and nothing is sent. */
  key: string | undefined;
  seen?: SeenVersion | undefined;
  /** Called with every newer version. */
  onSeen?: ((seen: SeenVersion) => void) | undefined;
  /** Called when the salt is known. */
  onSalt?: ((salt: string) => void) | undefined;
  /** Called when the keys are known. */
  onUnlocked?: ((room: EncryptedRoom) => void) | undefined;
}

/**
 * Every request waits until the room is unlocked, so nothing is sent without the key or in plaintext. `unlock` returns the
 * keys, for code that seals data itself.
 */
export function openEncryptedRoom(
  transport: Transport,
  access: RoomAccess,
  source: KeyOptions,
  openPlain: (transport: Transport, access: RoomAccess) => RoomBase,
): { room: RoomBase; unlock(): Promise<Unlocked> } {
  const code = parseRoomCode(access.code) ?? (access.code as RoomCode);
  const path = roomPath(code);
  const { key } = source;
  let { seen, salt } = source;
  let unlocked: Promise<Unlocked> | undefined;
  const saltReceived = Promise.withResolvers<void>();

  async function unlockNow(): Promise<Unlocked> {
    if (key === undefined) throw keyRequired();
    const { unlock } = await loadEncryption();
    const onSalt = (used: string) => {
      salt = used;
      source.onSalt?.(used);
      saltReceived.resolve();
    };
    const onSeen = (newest: SeenVersion) => {
      seen = newest;
      source.onSeen?.(newest);
    };
    const unlocked = await unlock(transport, path, code, { ...source, key }, { seen, onSeen, onSalt });
    // Without a request, if the keys were known.
    saltReceived.resolve();
    source.onUnlocked?.(unlocked.room);
    return unlocked;
  }

  /** Repeated if it failed, for example offline. */
  function unlock(): Promise<Unlocked> {
    unlocked ??= unlockNow().catch((error) => {
      unlocked = undefined;
      throw error;
    });
    return unlocked;
  }

  const requestSalt = async () => void (await Promise.race([saltReceived.promise, unlock()]));
  const sealedAccess = { ...access, encryption: { unlock, requestSalt } };
  const plain = openPlain(transport, sealedAccess);
  // The name of a device is sealed with its id.
  const liveAccess = { ...sealedAccess, deviceId: access.deviceId ?? randomId() };

  /** The operation of the encrypted room, or the same as in other rooms. */
  async function run(name: keyof RoomBase, args: unknown[]): Promise<unknown> {
    const { createSealedOperations } = await loadEncryption();
    const sealed = createSealedOperations(await unlock(), { transport, path, plain, access: sealedAccess });
    return ({ ...plain, ...sealed }[name] as (...args: unknown[]) => unknown)(...args);
  }

  const operations = Object.keys(plain)
    .filter((name) => typeof plain[name as keyof RoomBase] === 'function' && name !== 'pin')
    .map((name) => [name, (...args: unknown[]) => run(name as keyof RoomBase, args)]);
  const room = {
    ...plain,
    ...(Object.fromEntries(operations) as RoomBase),
    live: (options?: LiveOptions) => openLive(transport, path, liveAccess, options),
    key,
    link: key === undefined ? plain.link : linkWithKey(plain.link, key, code),
  };
  Object.defineProperty(room, 'seen', { enumerable: true, get: () => seen });
  Object.defineProperty(room, 'salt', { enumerable: true, get: () => salt });
  return { room, unlock };
}

const keyRequired = () =>
  new PoproomError('KEY_REQUIRED', 'A code that starts with E belongs to an encrypted room. Its room key is required.');

/** After `#`, which browsers do not send to the server. */
const linkWithKey = (link: string, key: string, code: string): string =>
  `${link}#${parseLinkId(code) ? key : key.replace(/[\s\p{Pd}]/gu, '').toUpperCase()}`;
