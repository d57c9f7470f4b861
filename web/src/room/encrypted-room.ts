/** Encrypted rooms: joins and starts them, and seals the drafts of their text. Loaded for the first such room. */
import {
  type EncryptedRoom,
  fileLayout,
  openDraft,
  parseRoomKey,
  type RoomKeys,
  sealDraft,
} from '../../../src/client/crypto/index.ts';
import { type KeyOptions, loadEncryption, openEncryptedRoom } from '../../../src/client/encrypted-room.ts';
import type { RoomCode, SavedText, SeenVersion } from '../../../src/client/index.ts';
import { requestRoom } from '../../../src/client/light.ts';
import { createRoomPin } from '../../../src/client/light-room.ts';
import { createRoomHandle } from '../../../src/client/room.ts';
import type { RoomAccess } from '../../../src/client/room-access.ts';
import type { RoomBase } from '../../../src/client/room-base.ts';
import { createTextRequests } from '../../../src/client/room-text.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { CreateRoomRequest, RoomCreated } from '../../../src/protocol/types.ts';
import { deviceId, deviceName } from '../device/identity.ts';
import { offerKey } from '../device/key-exchange.ts';
import { isRecord, isString, localStore } from '../device/storage.ts';
import { transport } from '../server.ts';
import { deriveInWorker } from './derive-keys.ts';
import { isSavedText } from './drafts.ts';
import { lazyTransfer } from './lazy-room.ts';
import type { FileSizes, JoinAttempt } from './room-phase.ts';
import { createWorkerCipher } from './worker-cipher.ts';

/** Deriving keys takes long, so it is done once for a room that is joined again, or that was started here. */
const derived = new Map<string, RoomKeys>();

/** Starts to derive the keys, while the page loads the text engine and the drafts. */
export function createEncryptedAttempt(code: RoomCode, typedKey: string): JoinAttempt {
  const key = canonicalKey(typedKey);
  const aborter = new AbortController();
  let unlocked: EncryptedRoom | undefined;
  const { room, unlock } = open(code, {
    key,
    keys: derived.get(code + key),
    derive: deriveInWorker,
    cipher: createWorkerCipher,
    seen: savedSeen(code),
    onSeen: (seen) => saveSeen(code, seen),
    onUnlocked(room) {
      unlocked = room;
      derived.set(code + key, room.keys);
    },
  });
  const unlockRoom = async () => (await unlock()).room;
  // The live channel reports a failure, and tries again.
  unlockRoom().catch(() => undefined);
  offerKey(code, key, aborter.signal);
  return {
    room,
    aborter,
    encryption: {
      key,
      unlock: unlockRoom,
      fileSizes,
      // The room is unlocked before its text is shown.
      sealDraft: (saved) => unlocked && sealDraft(unlocked, JSON.stringify(saved)),
      openDraft: (sealed) => unlocked && openSavedText(unlocked, sealed),
    },
  };
}

const fileSizes: FileSizes = {
  storedSize: (size) => fileLayout(size).ciphertextSize,
  largestFile(bytes) {
    let [fits, tooLarge] = [-1, bytes + 1];
    while (tooLarge - fits > 1) {
      const size = Math.floor((fits + tooLarge) / 2);
      if (fileLayout(size).ciphertextSize <= bytes) fits = size;
      else tooLarge = size;
    }
    return Math.max(0, fits);
  },
};

function openSavedText(room: EncryptedRoom, sealed: string): SavedText | undefined {
  try {
    const saved: unknown = JSON.parse(openDraft(room, sealed));
    return isSavedText(saved) ? saved : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a room with a new key. */
export async function startEncryptedRoom(request: CreateRoomRequest): Promise<RoomCreated & { key: string }> {
  const { createEncrypted } = await loadEncryption();
  let keys: RoomKeys | undefined;
  const { room, ...created } = await createEncrypted(
    (json) => requestRoom(transport, json),
    (code, source) => {
      keys = source.keys;
      return open(code, source).room;
    },
    request,
    deriveInWorker,
  );
  const key = canonicalKey(room.key ?? '');
  if (keys) derived.set(created.roomId + key, keys);
  return { ...created, key };
}

const open = (code: string, source: KeyOptions) =>
  openEncryptedRoom(
    transport,
    { code, pin: createRoomPin(undefined), deviceId, deviceName: deviceName.value },
    source,
    openPlain,
  );

function openPlain(transport: Transport, access: RoomAccess): RoomBase {
  const room = createRoomHandle(transport, access, lazyTransfer);
  return { ...room, ...createTextRequests(transport, access, room) };
}

/** A key that cannot be one stays as it is, and fails when the room is unlocked. */
function canonicalKey(typed: string): string {
  try {
    return parseRoomKey(typed);
  } catch {
    return typed;
  }
}

/** The newest version that this device has seen, to notice when the server sends an older one. */
export const savedSeen = (code: string): SeenVersion | undefined => localStore.get(`seen:${code}`, isSeenVersion);

function saveSeen(code: string, seen: SeenVersion): void {
  // Another tab may have seen a newer one.
  if (seen.version > (savedSeen(code)?.version ?? -1)) localStore.set(`seen:${code}`, seen);
}

/** The user accepts that the server has gone back to an older text. */
export const forgetSeen = (code: string): void => localStore.set(`seen:${code}`, undefined);

const isSeenVersion = (value: unknown): value is SeenVersion =>
  isRecord(value) && Number.isSafeInteger(value.version) && isString(value.hash);
