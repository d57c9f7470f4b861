/** Turns everything that can be uploaded into bytes. */
import { measure } from './measured-stream.ts';

/** A string is the path of a file, and works only where there is a file system. */
export type UploadSource =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string;

/** Uses the file system only for a path, because browsers have none. */
export async function openSource(source: UploadSource): Promise<Blob | ReadableStream<Uint8Array>> {
  if (typeof source === 'string') return openFile(source);
  if (source instanceof Blob || source instanceof ReadableStream) return source;
  if (Symbol.asyncIterator in source) return streamOf(source);
  return new Blob([source as Uint8Array<ArrayBuffer>]);
}

export function nameOf(source: UploadSource): string | undefined {
  if (typeof source === 'string') return source.split(/[/\\]/).at(-1);
  return source instanceof Blob && 'name' in source ? String(source.name) : undefined;
}

/** Differs when a file has changed on the disk, as far as its source knows that. */
export function versionOf(source: UploadSource): string {
  if (typeof source !== 'string') return 'lastModified' in source ? String(source.lastModified) : '';
  const { size, mtimeMs, ctimeMs } = fileSystem().statSync(source);
  return `${size}/${mtimeMs}/${ctimeMs}`;
}

/** Reads the whole stream, for browsers that cannot send one. */
export async function readIntoBlob(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): Promise<Blob> {
  const { stream, stop } = measure(source);
  const abort = () => stop(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    return await new Response(stream).blob();
  } catch (error) {
    stop(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Node 26 truncates the size of a larger Blob, so that only a part of the file would be uploaded. */
const maxBlobBytes = 2 ** 32;

async function openFile(path: string): Promise<Blob> {
  const fs = fileSystem();
  const blob = await fs.openAsBlob(path);
  if (fs.statSync(path).size >= maxBlobBytes) throw new TypeError('A path can name a file of up to 4 GiB.');
  return blob;
}

interface FileSystem {
  openAsBlob(path: string): Promise<Blob>;
  statSync(path: string): { size: number; mtimeMs: number; ctimeMs: number };
}

function fileSystem(): FileSystem {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'node:fs'): FileSystem } };
  const fs = process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError('There is no file system here: pass a File or Blob instead of a path.');
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
