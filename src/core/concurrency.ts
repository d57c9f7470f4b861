/** Running work concurrently, or only once for several callers. */
import type { MaybePromise } from './ports/basics.ts';

/** Processes items, at most `limit` at a time. Throws the first error after the running work has ended. */
export async function forEachConcurrent<T>(items: AsyncIterable<T>, limit: number, work: (item: T) => Promise<void>) {
  const queue = items[Symbol.asyncIterator]();
  const failures: unknown[] = [];

  async function runWorker(): Promise<void> {
    while (failures.length === 0) {
      const next = await queue.next();
      if (next.done) return;
      await work(next.value);
    }
  }

  const onError = (error: unknown) => void failures.push(error);
  await Promise.all(Array.from({ length: limit }, () => runWorker().catch(onError)));
  if (failures.length > 0) throw failures[0];
}

/** The results for all items, in order. Batches keep the number of concurrent store commands low. */
export async function mapInBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += batchSize) {
    results.push(...(await Promise.all(items.slice(i, i + batchSize).map(work))));
  }
  return results;
}

const batchSize = 200;

/** Concurrent callers share one call. After it has settled, the next caller starts another one. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  const flights = singleFlights<undefined, T>();
  return () => flights(undefined, work);
}

/** The same for each key. */
export function singleFlights<K, T>() {
  const running = new Map<K, Promise<T>>();
  return (key: K, work: () => Promise<T>): Promise<T> => {
    const started = running.get(key) ?? work().finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}

/** Repeats work at intervals, one run at a time. Stopping waits for the current one. */
export function createRepetition(work: () => Promise<void>, everyMs: number, onFailure: (error: unknown) => void) {
  const runOnce = singleFlight(() => work().catch(onFailure));
  let last = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const run = () => {
    last = runOnce();
  };
  return {
    start(): void {
      run();
      timer = setInterval(run, everyMs).unref();
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await last;
    },
  };
}

/** All callers share one call and its result. After a failure, the next caller starts another one. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Calls `next` synchronously if it can: a promise for each small step would cost more than the step. */
export const chain = <T, R>(value: MaybePromise<T>, next: (resolved: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value);
