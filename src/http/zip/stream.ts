/** The bytes of a zip archive, as fast as they are read: one open file and about two chunks at a time. */
import { addAbortSignal, Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { descriptor, directoryRecord, endRecords, localHeader, type ZipFile, type ZipPlan } from './format.ts';

/** Rejects or breaks if the file is not available, which ends the archive with an error. */
export type OpenFile<File> = (file: File) => Promise<Readable>;

/** Destroying the stream closes the open file. */
export function zipStream<File extends ZipFile>(plan: ZipPlan<File>, open: OpenFile<File>): Readable {
  const stopped = new AbortController();
  const chunks = zipChunks(plan, open, stopped.signal);
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

async function* zipChunks<File extends ZipFile>(
  plan: ZipPlan<File>,
  open: OpenFile<File>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const checksums: number[] = [];
  // The records between two files are one chunk.
  let last: Buffer = Buffer.alloc(0);
  for (const entry of plan.entries) {
    yield Buffer.concat([last, localHeader(entry)]);
    const crc = yield* fileChunks(addAbortSignal(signal, await open(entry.file)), entry.file.size);
    checksums.push(crc);
    last = descriptor(entry, crc);
  }
  yield last;
  yield* directoryChunks(plan, checksums);
}

/** Returns the checksum. */
async function* fileChunks(bytes: Readable, size: number): AsyncGenerator<Buffer, number> {
  let crc = 0;
  let received = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > size) break;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (received !== size) throw new Error(`A file in an archive has ${received} bytes instead of ${size} bytes.`);
  return crc;
}

const recordsPerChunk = 100;

function* directoryChunks({ entries, ...plan }: ZipPlan, checksums: readonly number[]): Generator<Buffer> {
  for (let i = 0; i < entries.length; i += recordsPerChunk) {
    const batch = entries.slice(i, i + recordsPerChunk);
    yield Buffer.concat(batch.map((entry, j) => directoryRecord(entry, checksums[i + j] ?? 0)));
  }
  yield endRecords({ ...plan, entries });
}
