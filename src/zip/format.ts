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

const localHeaderLength = 30;
const directoryRecordLength = 46;
const timeFieldLength = 9;
const largeSizesLength = 20;
const zip64EndLength = 56 + 20;
const endLength = 22;

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
    offset += localHeaderLength + entry.path.length + localFieldsLength(entry) + file.size + descriptorLength(entry);
    return entry;
  });
  const directoryLength = entries.reduce((sum, entry) => sum + directoryRecordLengthOf(entry), 0);
  const plan = { entries, directoryAt: offset, directoryLength };
  return { ...plan, length: offset + directoryLength + (needsZip64End(plan) ? zip64EndLength : 0) + endLength };
}

const localFieldsLength = ({ isLarge }: ZipEntry) => timeFieldLength + (isLarge ? largeSizesLength : 0);
const descriptorLength = ({ isLarge }: ZipEntry) => (isLarge ? 24 : 16);
const directoryRecordLengthOf = (entry: ZipEntry) =>
  directoryRecordLength + entry.path.length + timeFieldLength + zip64FieldOf(entry).length;

function needsZip64End({ entries, directoryAt, directoryLength }: Omit<ZipPlan, 'length'>): boolean {
  return entries.length >= max16 || directoryAt + directoryLength >= max32;
}

/** Comes before the bytes of a file. */
export function localHeader(entry: ZipEntry): Uint8Array {
  const { path, isLarge } = entry;
  const sizes = isLarge ? max32 : 0;
  const record = createRecord(localHeaderLength)
    .u32(0x04034b50)
    .u16(versionFor(isLarge))
    .u16(flags)
    .u16(0)
    .u32(dosTime(entry.file.modifiedAt))
    .u32(0)
    .u32(sizes)
    .u32(sizes)
    .u16(path.length)
    .u16(localFieldsLength(entry));
  return concatBytes([record.bytes, path, timeField(entry), ...(isLarge ? [zip64Field([0, 0])] : [])]);
}

/** Follows the bytes of a file. */
export function descriptor({ file: { size }, isLarge }: ZipEntry, crc: number): Uint8Array {
  const record = createRecord(isLarge ? 24 : 16)
    .u32(0x08074b50)
    .u32(crc);
  return isLarge ? record.u64(size).u64(size).bytes : record.u32(size).u32(size).bytes;
}

/** The record of a file in the directory. */
export function directoryRecord(entry: ZipEntry, crc: number): Uint8Array {
  const { path, file, offset, isLarge } = entry;
  const zip64 = zip64FieldOf(entry);
  const size = Math.min(file.size, max32);
  const version = versionFor(isLarge || offset >= max32);
  const record = createRecord(directoryRecordLength)
    .u32(0x02014b50)
    .u16(madeByUnix | version)
    .u16(version)
    .u16(flags)
    .u16(0)
    .u32(dosTime(file.modifiedAt))
    .u32(crc)
    .u32(size)
    .u32(size)
    .u16(path.length)
    .u16(timeFieldLength + zip64.length)
    .u16(0)
    .u16(0)
    .u16(0)
    .u32((regularFile << 16) >>> 0)
    .u32(Math.min(offset, max32));
  return concatBytes([record.bytes, path, timeField(entry), zip64]);
}

/** The end of the archive. */
export function endRecords(plan: ZipPlan): Uint8Array {
  const { directoryAt, directoryLength } = plan;
  const count = Math.min(plan.entries.length, max16);
  const end = createRecord(endLength)
    .u32(0x06054b50)
    .u32(0)
    .u16(count)
    .u16(count)
    .u32(Math.min(directoryLength, max32))
    .u32(Math.min(directoryAt, max32))
    .u16(0);
  return needsZip64End(plan) ? concatBytes([zip64End(plan), end.bytes]) : end.bytes;
}

function zip64End({ entries, directoryAt, directoryLength }: ZipPlan): Uint8Array {
  return createRecord(zip64EndLength)
    .u32(0x06064b50)
    .u64(44)
    .u16(madeByUnix | versionFor(true))
    .u16(versionFor(true))
    .u64(0)
    .u64(entries.length)
    .u64(entries.length)
    .u64(directoryLength)
    .u64(directoryAt)
    .u32(0x07064b50)
    .u32(0)
    .u64(directoryAt + directoryLength)
    .u32(1).bytes;
}

/** The values of a directory record that do not fit into four bytes. */
function zip64FieldOf({ file: { size }, offset, isLarge }: ZipEntry): Uint8Array {
  const values = [...(isLarge ? [size, size] : []), ...(offset >= max32 ? [offset] : [])];
  return values.length === 0 ? new Uint8Array(0) : zip64Field(values);
}

function zip64Field(values: readonly number[]): Uint8Array {
  const record = createRecord(4 + 8 * values.length)
    .u16(0x0001)
    .u16(8 * values.length);
  for (const value of values) record.u64(value);
  return record.bytes;
}

/** The modification time in seconds since 1970. The other time has no time zone. */
function timeField({ file }: ZipEntry): Uint8Array {
  return createRecord(timeFieldLength)
    .u16(0x5455)
    .u16(5)
    .u8(1)
    .u32(Math.floor(file.modifiedAt / 1000) >>> 0).bytes;
}

/** Date and time as MS-DOS stored them, from 1980, in steps of two seconds. In UTC. */
function dosTime(ms: number): number {
  const time = new Date(Math.max(ms, Date.UTC(1980, 0)));
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}

interface RecordWriter {
  bytes: Uint8Array;
  u8(value: number): RecordWriter;
  u16(value: number): RecordWriter;
  u32(value: number): RecordWriter;
  u64(value: number): RecordWriter;
}

/** Writes numbers one after the other, with the least significant byte first. */
function createRecord(length: number): RecordWriter {
  const bytes = allocate(length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let at = 0;
  const next = (size: number) => {
    at += size;
    return at - size;
  };
  const writer: RecordWriter = {
    bytes,
    u8(value) {
      view.setUint8(next(1), value);
      return writer;
    },
    u16(value) {
      view.setUint16(next(2), value, true);
      return writer;
    },
    u32(value) {
      view.setUint32(next(4), value, true);
      return writer;
    },
    u64(value) {
      view.setBigUint64(next(8), BigInt(value), true);
      return writer;
    },
  };
  return writer;
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

/** The bytes of a file. Fails if it is not available, which ends the archive with an error. */
type OpenZipped<File> = (file: File) => Promise<AsyncIterable<Uint8Array>>;

/** Continues the checksum of the bytes before. */
type Crc32 = (bytes: Uint8Array, before: number) => number;

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
