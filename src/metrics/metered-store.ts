/** Measures the operations of a store. */
import type { RoomStore, Store } from '../core/ports.ts';
import type { Instruments, UploadKind } from './instruments.ts';
import {
  idempotencyOperations,
  keyOperations,
  type Operations,
  rateOperations,
  roomOperations,
  type StoreOperation,
  storageOperations,
} from './store-operations.ts';

type Method = (...args: unknown[]) => unknown;

export function meterStore(store: Store, instruments: Instruments): Store {
  const meter = <Port extends object>(port: Port, operations: Operations<Port>) =>
    meterPort(port, operations, instruments);
  return {
    ...store,
    rooms: countUploads(meter(store.rooms, roomOperations), instruments),
    rates: meter(store.rates, rateOperations),
    keys: meter(store.keys, keyOperations),
    storage: meter(store.storage, storageOperations),
    idempotency: meter(store.idempotency, idempotencyOperations),
  };
}

function meterPort<Port extends object>(port: Port, operations: Operations<Port>, instruments: Instruments): Port {
  const methods = Object.entries(operations as Record<string, StoreOperation>).map(([name, operation]) => [
    name,
    meterMethod((port as Record<string, Method>)[name] as Method, operation, instruments),
  ]);
  return { ...port, ...Object.fromEntries(methods) };
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
function countUploads(rooms: RoomStore, { uploads }: Instruments): RoomStore {
  const counted = <T>(kind: UploadKind, outcome: T): T => {
    if (typeof outcome === 'object' && outcome && 'seq' in outcome) uploads.with(kind).add();
    return outcome;
  };
  return {
    ...rooms,
    addFile: async (...args) => counted('whole', await rooms.addFile(...args)),
    finishUpload: async (...args) => counted('resumable', await rooms.finishUpload(...args)),
  };
}
