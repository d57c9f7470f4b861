/** Reports the progress of downloads, and ends them if the server stops sending. */
import { connectionError } from './error.ts';
import type { RoomBase } from './room-base.ts';
import { limitOf, withinSeconds } from './silence-limit.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { OnProgress } from './upload.ts';

interface WatchOptions extends CallOptions {
  onProgress?: OnProgress | undefined;
}

/** The downloads of a room whose bodies are watched. */
export function watchDownloads(
  { timeouts }: Transport,
  { download, downloadZip }: Pick<RoomBase, 'download' | 'downloadZip'>,
): Pick<RoomBase, 'download' | 'downloadZip'> {
  const watched = (response: Response, { timeoutSeconds = timeouts?.seconds, ...options }: WatchOptions) =>
    watchBody(response, { ...options, timeoutSeconds });
  return {
    download: async (file, options = {}) => watched(await download(file, options), options),
    downloadZip: async (options = {}) => watched(await downloadZip(options), options),
  };
}

/** The same response. Its body fails with a PoproomError. */
function watchBody(response: Response, options: WatchOptions): Response {
  const { body, status, statusText, headers, url } = response;
  if (!body || (!options.onProgress && limitOf(options.timeoutSeconds) === undefined)) return response;
  const stream = watch(body, totalOf(response), options);
  // The body must keep the response: Node ends a body whose response was garbage-collected.
  responsesByBody.set(stream, response);
  return Object.defineProperty(new Response(stream, { status, statusText, headers }), 'url', { value: url });
}

const responsesByBody = new WeakMap<object, Response>();

/** A stream of the same bytes. The time that the program takes to read does not count. */
function watch(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  total: number | undefined,
  { onProgress, timeoutSeconds, signal }: WatchOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  let bytes = 0;
  const read = () =>
    withinSeconds(timeoutSeconds, reader.read(), () => reader.cancel()).catch((cause) => {
      throw signal?.aborted ? signal.reason : connectionError(cause);
    });
  return new ReadableStream({
    // As that of fetch, so that a program can read into its own buffer.
    type: 'bytes',
    async pull(controller) {
      const { done, value } = await read();
      if (done) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      bytes += value.byteLength;
      controller.enqueue(value);
      onProgress?.(bytes, total);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Undefined if the server does not know it, or has compressed the body. */
function totalOf({ headers }: Response): number | undefined {
  const length = headers.get('Content-Length');
  return length === null || headers.has('Content-Encoding') ? undefined : Number(length);
}

/** Reports the progress of a stream that is not a response. */
export function countBytes(total: number, onProgress: OnProgress): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      controller.enqueue(chunk);
      onProgress(bytes, total);
    },
  });
}
