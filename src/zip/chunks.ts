/** The bytes of a zip archive, one chunk at a time. */
import {
  concatBytes,
  descriptor,
  directoryRecord,
  endRecords,
  localHeader,
  type ZipFile,
  type ZipPlan,
} from './format.ts';

/** The bytes of a file. Fails if it is not available, which ends the archive with an error. */
export type OpenZipped<File> = (file: File) => Promise<AsyncIterable<Uint8Array>>;

/** Continues the checksum of the bytes before. */
export type Crc32 = (bytes: Uint8Array, before: number) => number;

export async function* zipChunks<File extends ZipFile>(
  plan: ZipPlan<File>,
  open: OpenZipped<File>,
  crc32: Crc32,
): AsyncGenerator<Uint8Array, void> {
  const checksums: number[] = [];
  // The records between two files are one chunk.
  let last = new Uint8Array(0) as Uint8Array;
  for (const entry of plan.entries) {
    yield concatBytes([last, localHeader(entry)]);
    const crc = yield* fileChunks(await open(entry.file), entry.file.size, crc32);
    checksums.push(crc);
    last = descriptor(entry, crc);
  }
  yield last;
  yield* directoryChunks(plan, checksums);
}

/** Returns the checksum. */
async function* fileChunks(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
  crc32: Crc32,
): AsyncGenerator<Uint8Array, number> {
  let crc = 0;
  let received = 0;
  for await (const chunk of bytes) {
    received += chunk.length;
    if (received > size) break;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (received !== size) throw new Error(`A file in an archive has ${received} bytes instead of ${size} bytes.`);
  return crc;
}

const recordsPerChunk = 100;

function* directoryChunks({ entries, ...plan }: ZipPlan, checksums: readonly number[]): Generator<Uint8Array> {
  for (let i = 0; i < entries.length; i += recordsPerChunk) {
    const batch = entries.slice(i, i + recordsPerChunk);
    yield concatBytes(batch.map((entry, j) => directoryRecord(entry, checksums[i + j] ?? 0)));
  }
  yield endRecords({ ...plan, entries });
}
