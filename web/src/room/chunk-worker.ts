/** Encrypts and decrypts the chunks of files on a thread of its own. */
import { type ChunkPlace, portableCipher } from '../../../src/client/crypto/file-chunks.ts';

export interface ChunkRequest {
  id: number;
  action: 'seal' | 'open';
  key: Uint8Array;
  place: ChunkPlace;
  bytes: Uint8Array;
}

/** `bytes` is undefined for a damaged chunk. The first message has no id: the worker is ready. */
export interface ChunkResult {
  id?: number;
  bytes?: Uint8Array<ArrayBuffer> | undefined;
}

/** The other end of a worker has the same methods. */
const worker = self as unknown as Worker;

worker.onmessage = async ({ data: { id, action, key, place, bytes } }: MessageEvent<ChunkRequest>) => {
  const result = await portableCipher(key)[action](place, bytes);
  worker.postMessage({ id, bytes: result } satisfies ChunkResult, result ? [result.buffer] : []);
};

worker.postMessage({} satisfies ChunkResult);
