/** What can be uploaded, and how it becomes bytes that can be sent. */
import { largestFile } from '../protocol/largest-file.ts';
import { tooLarge } from './error.ts';

export type UploadSource =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string;

/** A string is the path of a file: loaded only then, so that browsers need not know of it. */
export async function open(source: UploadSource): Promise<Blob | ReadableStream<Uint8Array>> {
  if (typeof source === 'string') return fileSystem().openAsBlob(source);
  if (source instanceof Blob || source instanceof ReadableStream) return source;
  if (Symbol.asyncIterator in source) return streamOf(source);
  return new Blob([source as Uint8Array<ArrayBuffer>]);
}

export function nameOf(source: UploadSource): string | undefined {
  if (typeof source === 'string') return source.split(/[/\\]/).at(-1);
  return source instanceof Blob && 'name' in source ? String(source.name) : undefined;
}

export interface Measured {
  readonly stream: ReadableStream<Uint8Array>;
  /** Why it broke by itself, where it did. */
  readonly failure: unknown;
  /** Lets go of the source: nobody else would, when nothing more is read of it. */
  stop(reason: unknown): void;
}

/** Tells how much has been taken, and is never longer than a file may be. */
export function measure(source: ReadableStream<Uint8Array>, onProgress?: (bytes: number) => void): Measured {
  const reader = source.getReader();
  let bytes = 0;
  let failure: unknown;
  let breakOff = (_reason: unknown) => {};
  const fail = (error: unknown): never => {
    failure = error;
    throw error;
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      breakOff = (reason) => controller.error(reason);
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch(fail);
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes > largestFile) fail(tooLarge());
      controller.enqueue(value);
      try {
        onProgress?.(bytes);
      } catch (error) {
        fail(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return {
    stream,
    get failure() {
      return failure;
    },
    stop(reason) {
      // First of all: what has broken off must not look as if it had come to its end.
      breakOff(reason);
      reader.cancel(reason).catch(() => undefined);
    },
  };
}

/** All of it, for those who cannot send a stream. */
export async function gather(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): Promise<Blob> {
  const { stream, stop } = measure(source);
  const callOff = () => stop(signal?.reason);
  signal?.addEventListener('abort', callOff);
  try {
    signal?.throwIfAborted();
    return await new Response(stream).blob();
  } catch (error) {
    stop(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', callOff);
  }
}

interface FileSystem {
  openAsBlob(path: string): Promise<Blob>;
}

function fileSystem(): FileSystem {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'node:fs'): FileSystem } };
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError('There is no file system here: give the file itself instead of its path.');
  return fs;
}

function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await iterator.return?.()),
  });
}
