/** Derives keys, and encrypts and decrypts files, in a worker, so that the page stays responsive. */
import { type ChunkCipher, portableCipher } from '../../../src/client/crypto/chunk-cipher.ts';
import { deriveKeys, type RoomKeys } from '../../../src/client/crypto/keys.ts';
import type { RoomKey } from '../../../src/client/crypto/room-key.ts';
import { trustedScriptUrl } from '../page-settings.ts';
import type { Task, TaskResult, WorkerMessage } from './crypto-worker.ts';
import workerUrl from './crypto-worker.ts?worker&url';

type Bytes = Uint8Array<ArrayBuffer>;
type Run = (task: Task) => Promise<TaskResult>;

let started: Promise<Run> | undefined;
/** Loads while the page asks the server for the salt. Starting it takes long, so that request is sent first. */
const starting = setTimeout(start);

/** A link with a role contains its keys. Its files start the worker. */
export const omitWorker = (): void => clearTimeout(starting);

export const deriveInWorker = async (key: RoomKey, salt: Uint8Array): Promise<RoomKeys> =>
  (await run({ action: 'derive', key, salt }).catch(() => deriveKeys(key, salt))) as RoomKeys;

export const createWorkerCipher = (key: Uint8Array): ChunkCipher => ({
  seal: async (place, bytes) => (await run({ action: 'seal', key, place, bytes })) as Bytes,
  open: async (place, bytes) => (await run({ action: 'open', key, place, bytes })) as Bytes | undefined,
});

async function run(task: Task): Promise<TaskResult> {
  omitWorker();
  return (await start())(task);
}

function start(): Promise<Run> {
  started ??= startWorker().catch(() => runHere);
  return started;
}

/** If the worker cannot be loaded. */
async function runHere(task: Task): Promise<TaskResult> {
  if (task.action === 'derive') return deriveKeys(task.key, task.salt);
  return portableCipher(task.key)[task.action](task.place, task.bytes);
}

/** Resolves when the worker is ready. Chunks are moved to it, so afterwards they cannot be processed here. */
function startWorker(): Promise<Run> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
    const pending = new Map<number, PromiseWithResolvers<TaskResult>>();
    let lastId = 0;
    let isReady = false;

    const run: Run = (task) => {
      lastId += 1;
      const answer = Promise.withResolvers<TaskResult>();
      pending.set(lastId, answer);
      worker.postMessage({ id: lastId, task }, 'bytes' in task ? [task.bytes.buffer as ArrayBuffer] : []);
      return answer.promise;
    };

    worker.onmessage = ({ data: { id, result } }: MessageEvent<WorkerMessage>) => {
      if (id === undefined) {
        isReady = true;
        return resolve(run);
      }
      pending.get(id)?.resolve(result);
      pending.delete(id);
    };
    worker.onerror = ({ message }) => {
      const error = new Error(`The worker for encryption failed: ${message}`);
      reject(error);
      for (const answer of pending.values()) answer.reject(error);
      // The next task starts another one, unless it cannot be loaded.
      if (isReady) started = undefined;
      worker.terminate();
    };
  });
}
