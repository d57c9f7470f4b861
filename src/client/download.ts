/** Downloads files: watches the bodies of downloads, and receives one-time files. */
import type { Confirmation, FileClaimed } from '../protocol/types.ts';
import { connectionError, invalidMessage, offlineError, PoproomError } from './error.ts';
import { delay, type OnRetry, retryDelay, temporaryFailures } from './retry.ts';
import { limitOf, withinSeconds } from './silence-limit.ts';
import type { CallOptions } from './transport.ts';
import type { OnProgress } from './upload.ts';

export interface DownloadOptions extends CallOptions {
  /** Only these bytes of the file; `to` is exclusive. Default: the whole file. */
  range?: { readonly from: number; readonly to: number } | undefined;
  /**
   * The `ETag` of an earlier response, with `range`: if the file is another one now, the response has the status 200 and
   * all of its bytes. In an encrypted room it is not needed: bytes of another file fail with `DATA_DAMAGED`.
   */
  ifRange?: string | undefined;
  /** Called with the number of bytes read from the body, and that of all. */
  onProgress?: OnProgress | undefined;
  /** Does not use what the browser has cached. In an encrypted room this is automatic after a damaged download. */
  reload?: boolean | undefined;
}

export interface ZipOptions extends CallOptions {
  /** The ids of the files to include, at most 200. Default: all files. */
  files?: readonly string[] | undefined;
  /** Called with the number of bytes read from the body of `downloadZip`. The total is undefined if it is unknown. */
  onProgress?: OnProgress | undefined;
}

export interface ReceiveOptions<T = Blob> extends CallOptions {
  /**
   * Stores the file. When the promise resolves, the file is erased from the room, so everything must be stored by then.
   * Default: reads the file into a Blob.
   */
  save?: ((response: Response) => Promise<T>) | undefined;
  /** Called with the number of bytes received, and that of the file. */
  onProgress?: OnProgress | undefined;
  /** Called before each wait for a retry. */
  onRetry?: OnRetry | undefined;
}

/** The requests for one file. */
interface ReceiveCalls {
  claim(options: CallOptions): Promise<FileClaimed>;
  /** Downloads from an offset. */
  download(claim: string, offset: number, options: CallOptions): Promise<Response>;
  confirm(claim: string, options: CallOptions): Promise<Confirmation>;
  release(claim: string, options: CallOptions): Promise<Confirmation>;
}

/** Consecutive failures without progress. */
const maxFailures = 5;
const releaseTimeoutMs = 5_000;

/** Receives a one-time file: claims it, downloads it, and confirms the receipt. If it cannot be saved, it becomes available to others again. */
export async function receive<T>(calls: ReceiveCalls, size: number, options: ReceiveOptions<T>): Promise<T> {
  const claim = await claimFile(calls, options);
  const saved = await saveWhole(calls, claim, size, options).catch(async (error) => {
    // If this fails, the claim expires.
    await calls.release(claim, { signal: AbortSignal.timeout(releaseTimeoutMs) }).catch(() => undefined);
    throw error;
  });
  await confirm(calls, claim, options);
  return saved;
}

/** After `signal` aborts, waits a while: if the file was claimed, only the response contains what releases it. */
async function claimFile(calls: ReceiveCalls, { signal, timeoutSeconds }: CallOptions): Promise<string> {
  signal?.throwIfAborted();
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => late.abort(signal?.reason), releaseTimeoutMs);
  };
  signal?.addEventListener('abort', onAbort);
  try {
    return (await calls.claim({ signal: late.signal, timeoutSeconds })).claim;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}

async function saveWhole<T>(calls: ReceiveCalls, claim: string, size: number, options: ReceiveOptions<T>): Promise<T> {
  const { save = (response: Response) => response.blob() as Promise<T>, signal, timeoutSeconds } = options;
  signal?.throwIfAborted();
  const download = (offset: number) => calls.download(claim, offset, { signal, timeoutSeconds });
  const first = await download(0);
  const body = createResumingBody(first, size, download, options);
  const { headers, status } = first;
  const saved = await save(new Response(body.stream, { headers, status }));
  if (body.isComplete()) return saved;
  signal?.throwIfAborted();
  throw new TypeError('The file was not read to its end, so it stays in the room.');
}

/** Not aborted: the file is saved. If the response is lost, a second attempt finds no claim. */
async function confirm(calls: ReceiveCalls, claim: string, { timeoutSeconds, onRetry }: BodyOptions): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await calls.confirm(claim, { timeoutSeconds });
      return;
    } catch (error) {
      if (failures > 1 && error instanceof PoproomError && error.code === 'CLAIM_NOT_FOUND') return;
      await waitToRetry(error, failures, { onRetry });
    }
  }
}

/** Throws the error if another attempt would not help. */
async function waitToRetry(error: unknown, failures: number, { onRetry, signal }: BodyOptions): Promise<void> {
  const isTemporary = error instanceof PoproomError && temporaryFailures.includes(error.code);
  if (!isTemporary || failures >= maxFailures) throw error;
  const waitMs = retryDelay(error, failures);
  onRetry?.({ attempt: failures, error, waitMs });
  await delay(waitMs, signal);
}

type BodyOptions = Pick<ReceiveOptions, 'signal' | 'timeoutSeconds' | 'onProgress' | 'onRetry'>;

/** The body of a download that continues after an interruption. */
function createResumingBody(
  first: Response,
  size: number,
  reopen: (offset: number) => Promise<Response>,
  options: BodyOptions,
) {
  const { signal, timeoutSeconds, onProgress } = options;
  let reader = first.body?.getReader();
  let bytes = 0;
  let isComplete = false;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await next();
      if (chunk) return controller.enqueue(chunk);
      isComplete = true;
      controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  retainResponse(first, stream);

  /** The next bytes; undefined at the end of the file. */
  async function next(): Promise<Uint8Array | undefined> {
    for (let failures = 1; ; failures++) {
      try {
        const chunk = await read(reader);
        if (chunk || bytes === size) return chunk;
        throw offlineError();
      } catch (error) {
        await recover(error, failures);
      }
    }
  }

  async function read(from: typeof reader): Promise<Uint8Array | undefined> {
    const reading = from && withinSeconds(timeoutSeconds, from.read(), () => from.cancel());
    const { value } = (await reading?.catch((cause) => Promise.reject(connectionError(cause)))) ?? {};
    if (!value) return undefined;
    if (bytes + value.byteLength > size) throw tooLong();
    bytes += value.byteLength;
    onProgress?.(bytes, size);
    return value;
  }

  /** Waits and continues at the same position, or throws. */
  async function recover(error: unknown, failures: number): Promise<void> {
    signal?.throwIfAborted();
    await waitToRetry(error, failures, options);
    await open().catch((failed) => recover(failed, failures + 1));
  }

  async function open(): Promise<void> {
    await reader?.cancel().catch(() => undefined);
    const response = await reopen(bytes);
    if (response.status !== (bytes === 0 ? 200 : 206)) throw tooLong();
    retainResponse(response, stream);
    reader = response.body?.getReader();
  }

  /** `isComplete` tells whether the reader has received the end of the file. */
  return { stream, isComplete: () => isComplete };
}

const tooLong = () => invalidMessage('more bytes than the file has');

export type WatchOptions = Pick<DownloadOptions, keyof CallOptions | 'onProgress'>;

/** The same response. Its body fails with a PoproomError. The time that the program takes to read does not count. */
export function watchBody(response: Response, { onProgress, timeoutSeconds, signal }: WatchOptions): Response {
  const { body, status, statusText, headers, url } = response;
  if (!body || (!onProgress && limitOf(timeoutSeconds) === undefined)) return response;
  const reader = body.getReader();
  const total = totalOf(response);
  let bytes = 0;
  const read = () =>
    withinSeconds(timeoutSeconds, reader.read(), () => reader.cancel()).catch((cause) => {
      throw signal?.aborted ? signal.reason : connectionError(cause);
    });
  const stream = new ReadableStream({
    // As that of fetch, so that a program can read into its own buffer.
    type: 'bytes',
    async pull(controller) {
      const { done, value } = await read();
      if (done) {
        controller.close();
        return controller.byobRequest?.respond(0);
      }
      bytes += value.byteLength;
      controller.enqueue(value);
      onProgress?.(bytes, total);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  retainResponse(response, stream);
  return Object.defineProperty(new Response(stream, { status, statusText, headers }), 'url', { value: url });
}

const responsesByBody = new WeakMap<object, Response>();

/** Node ends the body when the response is garbage-collected, so the body must keep a reference to it. */
export function retainResponse(response: Response, body: object | null = response.body): Response {
  if (body) responsesByBody.set(body, response);
  return response;
}

/** Undefined if the server does not know it, or has compressed the body. */
function totalOf({ headers }: Response): number | undefined {
  const length = headers.get('Content-Length');
  return length === null || headers.has('Content-Encoding') ? undefined : Number(length);
}
