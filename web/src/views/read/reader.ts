/** Runs the worker of the read view: one request at a time, each with a time limit. */
import { trustedScriptUrl } from '../../trusted-script-url.ts';
import type { ReadNode } from './markdown.ts';
import type { ReadRequest, ReadResponse } from './read-worker.ts';
import workerUrl from './read-worker.ts?worker&url';

const maxWorkMs = 5_000;
const maxLength = 200_000;

export type Reader = ReturnType<typeof createReader>;

export function createReader() {
  let worker: Worker | undefined;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  function stop(): void {
    worker?.terminate();
    worker = undefined;
  }

  async function ask(request: ReadRequest): Promise<ReadNode[] | undefined> {
    if (isClosed) return undefined;
    try {
      worker ??= new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
      return await answer(worker, request);
    } catch {
      stop();
      return undefined;
    }
  }

  return {
    /** Undefined if it takes too long, the text is too complex, or the worker cannot be loaded. */
    async read(request: ReadRequest) {
      if (request.text.length > maxLength) return undefined;
      const result = last.then(() => ask(request));
      last = result;
      return result;
    },
    close(): void {
      isClosed = true;
      stop();
    },
  };
}

/** Loading the worker does not count as work. */
function answer(worker: Worker, request: ReadRequest): Promise<ReadNode[] | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadNode[] | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  worker.onmessage = ({ data }: MessageEvent<ReadResponse>) => {
    if ('isStarted' in data) timer = setTimeout(reject, maxWorkMs);
    else resolve(data.nodes);
  };
  worker.onerror = reject;
  worker.postMessage(request);
  return promise.finally(() => clearTimeout(timer));
}
