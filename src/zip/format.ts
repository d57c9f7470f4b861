/**
 * The records of a zip archive, by PKWARE's APPNOTE 6.3.10. Files are stored without compression, so all positions and
 * the length are known before the first byte. Only the checksums follow the bytes.
 */

export interface ZipFile {
  /** With `/` between the names. */
  path: string;
  size: number;
  modifiedAt: number;
}

interface ZipEntry<File extends ZipFile = ZipFile> {
  file: File;
  path: Uint8Array;
  /** The position of its local header. */
  offset: number;
  /** Whether its sizes need eight bytes. */
  isLarge: boolean;
}

export interface ZipPlan<File extends ZipFile = ZipFile> {
  entries: readonly ZipEntry<File>[];
  /** The position of the directory, and its length. */
  directoryAt: number;
  directoryLength: number;
  /** Of the whole archive, in bytes. */
  length: number;
}

/** The largest values of fields with four and two bytes. They mean that a zip64 record has the value. */
const max32 = 0xffffffff;
const max16 = 0xffff;

const encoder = new TextEncoder();

/** The sizes and the checksum follow the bytes; names are UTF-8. */
const flags = 0x0808;
const madeByUnix = 0x0300;
const regularFile = 0o100644;
/** The version that a reader needs: 2.0, or 4.5 for zip64. */
const versionFor = (isZip64: boolean) => (isZip64 ? 45 : 20);

export function planZip<File extends ZipFile>(files: readonly File[]): ZipPlan<File> {
  let offset = 0;
  const entries = files.map((file) => {
    const entry = { file, path: encoder.encode(file.path), offset, isLarge: file.size >= max32 };
    // The length of a record does not depend on the checksum.
    offset += localHeader(entry).length + file.size + descriptor(entry, 0).length;
    return entry;
  });
  const directoryLength = entries.reduce((sum, entry) => sum + directoryRecord(entry, 0).length, 0);
  const plan = { entries, directoryAt: offset, directoryLength };
  return { ...plan, length: offset + directoryLength + endRecords(plan).length };
}

/** Comes before the bytes of a file. */
export function localHeader({ path, file, isLarge }: ZipEntry): Uint8Array {
  const sizes = isLarge ? max32 : 0;
  const fields = concatBytes([timeField(file), ...(isLarge ? [zip64Field([0, 0])] : [])]);
  return concatBytes([
    pack('IHHHI', 0x04034b50, versionFor(isLarge), flags, 0, dosTime(file.modifiedAt)),
    pack('IIIHH', 0, sizes, sizes, path.length, fields.length),
    ...[path, fields],
  ]);
}

/** Follows the bytes of a file. */
export const descriptor = ({ file: { size }, isLarge }: ZipEntry, crc: number): Uint8Array =>
  pack(isLarge ? 'IIQQ' : 'IIII', 0x08074b50, crc, size, size);

export function directoryRecord(entry: ZipEntry, crc: number): Uint8Array {
  const { path, file, offset, isLarge } = entry;
  const fields = concatBytes([timeField(file), zip64FieldOf(entry)]);
  const size = Math.min(file.size, max32);
  const version = versionFor(isLarge || offset >= max32);
  return concatBytes([
    pack('IHHHHI', 0x02014b50, madeByUnix | version, version, flags, 0, dosTime(file.modifiedAt)),
    pack('IIIHHHHH', crc, size, size, path.length, fields.length, 0, 0, 0),
    pack('II', (regularFile << 16) >>> 0, Math.min(offset, max32)),
    ...[path, fields],
  ]);
}

export function endRecords({ entries, directoryAt, directoryLength }: Omit<ZipPlan, 'length'>): Uint8Array {
  const count = Math.min(entries.length, max16);
  const [at, length] = [Math.min(directoryAt, max32), Math.min(directoryLength, max32)];
  const end = pack('IIHHIIH', 0x06054b50, 0, count, count, length, at, 0);
  const endsAt = directoryAt + directoryLength;
  if (entries.length < max16 && endsAt < max32) return end;
  const version = versionFor(true);
  return concatBytes([
    pack('IQHHQ', 0x06064b50, 44, madeByUnix | version, version, 0),
    pack('QQQQ', entries.length, entries.length, directoryLength, directoryAt),
    pack('IIQI', 0x07064b50, 0, endsAt, 1),
    end,
  ]);
}

/** The values of a directory record that do not fit into four bytes. */
function zip64FieldOf({ file: { size }, offset, isLarge }: ZipEntry): Uint8Array {
  const values = [...(isLarge ? [size, size] : []), ...(offset >= max32 ? [offset] : [])];
  return values.length === 0 ? new Uint8Array(0) : zip64Field(values);
}

const zip64Field = (values: readonly number[]): Uint8Array =>
  pack(`HH${'Q'.repeat(values.length)}`, 0x0001, 8 * values.length, ...values);

/** The modification time in seconds since 1970. The other time has no time zone. */
const timeField = ({ modifiedAt }: ZipFile): Uint8Array =>
  pack('HHBI', 0x5455, 5, 1, Math.floor(modifiedAt / 1000) >>> 0);

/** Date and time as MS-DOS stored them, from 1980, in steps of two seconds. In UTC. */
function dosTime(ms: number): number {
  const time = new Date(Math.max(ms, Date.UTC(1980, 0)));
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}

/** The bytes of each letter of a format, as in `struct.pack` of Python. */
const widths: Readonly<Record<string, number>> = { B: 1, H: 2, I: 4, Q: 8 };

/** Numbers one after the other, with the least significant byte first. */
function pack(format: string, ...values: number[]): Uint8Array {
  const sizes = [...format].map((letter) => widths[letter] as number);
  const bytes = allocate(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const [index, size] of sizes.entries()) {
    let rest = values[index] as number;
    for (const end = at + size; at < end; at++) {
      bytes[at] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
  return bytes;
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = allocate(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** From Node's pool where there is one: an archive has many small records, whose own memory would fragment the heap. */
function allocate(length: number): Uint8Array {
  const { Buffer } = globalThis as { Buffer?: { allocUnsafe(length: number): Uint8Array } };
  return Buffer ? Buffer.allocUnsafe(length).fill(0) : new Uint8Array(length);
}

/** Continues the checksum of the bytes before. */
type Crc32 = (bytes: Uint8Array, before: number) => number;

/** If `open` fails because a file is not available, the archive ends with an error. */
export async function* zipChunks<File extends ZipFile>(
  plan: ZipPlan<File>,
  open: (file: File) => Promise<AsyncIterable<Uint8Array>>,
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
async function* fileChunks(bytes: AsyncIterable<Uint8Array>, size: number, crc32: Crc32) {
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
