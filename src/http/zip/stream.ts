/** A zip archive as a stream, as fast as it is read: one open file and about two chunks at a time. */
import { addAbortSignal, Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { zipChunks } from '../../zip/chunks.ts';
import type { ZipFile, ZipPlan } from '../../zip/format.ts';

/** Rejects or breaks if the file is not available, which ends the archive with an error. */
export type OpenFile<File> = (file: File) => Promise<Readable>;

/** Destroying the stream closes the open file. */
export function zipStream<File extends ZipFile>(plan: ZipPlan<File>, open: OpenFile<File>): Readable {
  const stopped = new AbortController();
  const chunks = zipChunks(plan, async (file) => addAbortSignal(stopped.signal, await open(file)), crc32);
  return new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      // A generator ends only between two chunks, and the store of a file may never send the next one.
      stopped.abort();
      const close = () => callback(error);
      chunks.return().then(close, close);
    },
  });
}
