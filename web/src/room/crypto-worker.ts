/** Derives the keys of encrypted rooms, and encrypts and decrypts the chunks of files, on a thread of its own. */
import { type ChunkPlace, portableCipher } from '../../../src/client/crypto/chunk-cipher.ts';
import { blockingScrypt, deriveKeys, type RoomKeys } from '../../../src/client/crypto/keys.ts';
import type { RoomKey } from '../../../src/client/crypto/room-key.ts';

export type Task =
  | { action: 'derive'; key: RoomKey; salt: Uint8Array }
  | { action: 'seal' | 'open'; key: Uint8Array; place: ChunkPlace; bytes: Uint8Array };

/** The bytes are undefined for a damaged chunk. */
export type TaskResult = RoomKeys | Uint8Array<ArrayBuffer> | undefined;

/** The first message has no id: the worker is ready. */
export interface WorkerMessage {
  id?: number;
  result?: TaskResult;
}

/** The other end of a worker has the same methods. */
const worker = self as unknown as Worker;

worker.onmessage = async ({ data: { id, task } }: MessageEvent<{ id: number; task: Task }>) => {
  const result = await run(task);
  worker.postMessage({ id, result } satisfies WorkerMessage, result instanceof Uint8Array ? [result.buffer] : []);
};

worker.postMessage({} satisfies WorkerMessage);

async function run(task: Task): Promise<TaskResult> {
  if (task.action === 'derive') return deriveKeys(task.key, task.salt, blockingScrypt);
  return portableCipher(task.key)[task.action](task.place, task.bytes);
}
