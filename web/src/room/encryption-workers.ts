/** Workers of encrypted rooms: they derive keys, and encrypt and decrypt files, so that the page stays responsive. */
import { type ChunkCipher, portableCipher } from '../../../src/client/crypto/file-chunks.ts';
import { deriveKeys, type RoomKeys } from '../../../src/client/crypto/keys.ts';
import type { RoomKey } from '../../../src/client/crypto/room-key.ts';
import { trustedScriptUrl } from '../trusted-script-url.ts';
import type { ChunkRequest, ChunkResult } from './chunk-worker.ts';
import chunkWorkerUrl from './chunk-worker.ts?worker&url';
import type { KeyRequest } from './key-worker.ts';
import keyWorkerUrl from './key-worker.ts?worker&url';

/** Loads while the page asks the server for the salt. Starting it takes long, so that request is sent first. */
let next: Worker | undefined;
const starting = setTimeout(() => (next = startKeyWorker()));

/** A link with a role contains its keys. */
export const omitKeyWorker = (): void => clearTimeout(starting);

export async function deriveInWorker(key: RoomKey, salt: Uint8Array): Promise<RoomKeys> {
  omitKeyWorker();
  const worker = next ?? startKeyWorker();
  next = undefined;
  try {
    return await ask(worker, { key, salt });
  } catch {
    // The worker could not be loaded.
    return deriveKeys(key, salt);
  } finally {
    worker?.terminate();
  }
}

function ask(worker: Worker | undefined, request: KeyRequest): Promise<RoomKeys> {
  return new Promise((resolve, reject) => {
    if (!worker) return reject();
    worker.onmessage = ({ data }: MessageEvent<RoomKeys>) => resolve(data);
    worker.onerror = reject;
    worker.postMessage(request);
  });
}

function startKeyWorker(): Worker | undefined {
  try {
    return new Worker(trustedScriptUrl(keyWorkerUrl), { type: 'module' });
  } catch {
    return undefined;
  }
}

type Bytes = Uint8Array<ArrayBuffer>;
type Run = (request: Omit<ChunkRequest, 'id'>) => Promise<Bytes | undefined>;

/** Started with the first file. */
let started: Promise<Run> | undefined;

export function createWorkerCipher(key: Uint8Array): ChunkCipher {
  const run: Run = async (request) => {
    started ??= startChunkWorker().catch(() => runHere);
    return (await started)(request);
  };
  return {
    seal: async (place, bytes) => (await run({ action: 'seal', key, place, bytes })) as Bytes,
    open: (place, bytes) => run({ action: 'open', key, place, bytes }),
  };
}

/** If the worker cannot be loaded. */
const runHere: Run = async ({ action, key, place, bytes }) => portableCipher(key)[action](place, bytes);

/** Resolves when the worker is ready. Chunks are moved to it, so afterwards they cannot be processed here. */
function startChunkWorker(): Promise<Run> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(trustedScriptUrl(chunkWorkerUrl), { type: 'module' });
    const pending = new Map<number, PromiseWithResolvers<Bytes | undefined>>();
    let lastId = 0;
    let isReady = false;

    const run: Run = (request) => {
      lastId += 1;
      const result = Promise.withResolvers<Bytes | undefined>();
      pending.set(lastId, result);
      worker.postMessage({ ...request, id: lastId }, [request.bytes.buffer as ArrayBuffer]);
      return result.promise;
    };

    worker.onmessage = ({ data: { id, bytes } }: MessageEvent<ChunkResult>) => {
      if (id === undefined) {
        isReady = true;
        return resolve(run);
      }
      pending.get(id)?.resolve(bytes);
      pending.delete(id);
    };
    worker.onerror = ({ message }) => {
      const error = new Error(`The worker for encrypted files failed: ${message}`);
      reject(error);
      for (const result of pending.values()) result.reject(error);
      // The next chunk starts another one, unless it cannot be loaded.
      if (isReady) started = undefined;
      worker.terminate();
    };
  });
}
