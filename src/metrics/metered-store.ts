/** Measures the operations of a store. */
import type { EngineParts, FileStore, Store, UploadStore } from '../core/ports.ts';
import type { Instruments, StoreOperation, UploadKind } from './instruments.ts';

const meteredPorts = [
  'rooms',
  'texts',
  'files',
  'uploads',
  'trash',
  'trashClaims',
  'rates',
  'keys',
  'storage',
  'idempotency',
] as const;
type MeteredPort = (typeof meteredPorts)[number];

type Method = (...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

export function meterStore(store: Store & EngineParts, instruments: Instruments): Store & EngineParts {
  const metered: Store & EngineParts = { ...store };
  for (const port of meteredPorts) {
    if (store[port]) Object.assign(metered, { [port]: meterPort(port, store[port], instruments) });
  }
  return { ...metered, ...countUploads(metered, instruments) };
}

function meterPort(port: MeteredPort, methods: object, instruments: Instruments): Methods {
  const metered = Object.entries(methods as Methods).map(([name, method]) => [
    name,
    typeof method === 'function' ? meterMethod(method, operationOf(port, name), instruments) : method,
  ]);
  return Object.fromEntries(metered);
}

/** By the names of methods, so that a port has no list of them to keep. */
function operationOf(port: MeteredPort, method: string): StoreOperation {
  if (port.startsWith('trash') || /^(expire|erase)|Abandoned$/.test(method)) return 'sweep';
  if (method === 'admit' || method === 'read') return 'admit';
  if (/^(read|find|list|count|usage)/.test(method)) return 'read';
  return port === 'rates' || port === 'storage' ? 'count' : 'write';
}

/** Returns the same value or promise as the method: a further promise would delay every operation. */
function meterMethod(method: Method, operation: StoreOperation, instruments: Instruments): Method {
  const durations = instruments.storeOperations.with(operation);
  const errors = instruments.storeErrors.with(operation);
  const onFailure = () => errors.add();
  return (...args) => {
    const startedAt = performance.now();
    const onDone = () => durations.observe((performance.now() - startedAt) / 1000);
    let result: unknown;
    try {
      result = method(...args);
    } catch (error) {
      onFailure();
      throw error;
    }
    if (result instanceof Promise) result.then(onDone, onFailure);
    else onDone();
    return result;
  };
}

/** A file counts when it is listed. */
function countUploads({ files, uploads }: Store, instruments: Instruments): { files: FileStore; uploads: UploadStore } {
  const counted = <T>(kind: UploadKind, outcome: T): T => {
    if (typeof outcome === 'object' && outcome && 'seq' in outcome) instruments.uploads.with(kind).add();
    return outcome;
  };
  return {
    files: { ...files, addFile: async (...args) => counted('whole', await files.addFile(...args)) },
    uploads: { ...uploads, finishUpload: async (...args) => counted('resumable', await uploads.finishUpload(...args)) },
  };
}
