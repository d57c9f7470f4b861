/** Derives the keys of an encrypted room in a worker, so that the page stays responsive and can load the rest. */
import { deriveKeys, type RoomKeys } from '../../../src/client/crypto/keys.ts';
import type { RoomKey } from '../../../src/client/crypto/room-key.ts';
import { trustedScriptUrl } from '../trusted-script-url.ts';
import type { KeyRequest } from './key-worker.ts';
import workerUrl from './key-worker.ts?worker&url';

/** Loads while the page asks the server for the salt. Starting it takes long, so that request is sent first. */
let next: Worker | undefined;
const starting = setTimeout(() => {
  next = startWorker();
});

export async function deriveInWorker(key: RoomKey, salt: Uint8Array): Promise<RoomKeys> {
  clearTimeout(starting);
  const worker = next ?? startWorker();
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

function startWorker(): Worker | undefined {
  try {
    return new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
  } catch {
    return undefined;
  }
}
