/** Derives the keys of an encrypted room, which takes long, on a thread of its own. */
import { blockingScrypt, deriveKeys } from '../../../src/client/crypto/keys.ts';
import type { RoomKey } from '../../../src/client/crypto/room-key.ts';

export interface KeyRequest {
  key: RoomKey;
  salt: Uint8Array;
}

/** The other end of a worker has the same methods. */
const worker = self as unknown as Worker;

worker.onmessage = async ({ data: { key, salt } }: MessageEvent<KeyRequest>) =>
  worker.postMessage(await deriveKeys(key, salt, blockingScrypt));
