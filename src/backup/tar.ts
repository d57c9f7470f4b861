/**
 * Writes and reads tar files (POSIX ustar) as streams. The last entry is a checksum of everything before it, so that
 * a damaged or incomplete file is noticed.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** A backup that cannot be made or restored. The message is a sentence for the operator. */
export class BackupError extends Error {}

export const blockBytes = 512;
const chunkBytes = 256 * 1024;
const checksumName = 'checksum';
/** Larger sizes do not fit into eleven octal digits, and are stored in binary. */
const largestOctal = 8 ** 11;

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type TarWriter = ReturnType<typeof createTarWriter>;

export function createTarWriter(file: FileHandle) {
  const hash = createHash('sha256');

  async function write(bytes: Uint8Array): Promise<void> {
    hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
  }

  async function add(name: string, size: number, bytes: Bytes): Promise<void> {
    await write(headerOf(name, { size }));
    let written = 0;
    for await (const chunk of bytes) {
      written += chunk.length;
      await write(chunk);
    }
    if (written !== size) throw new BackupError(`${name} changed while it was being read.`);
    await write(Buffer.alloc(paddingOf(size)));
  }

  return {
    add,
    /** Adds the checksum, and syncs the file to the disk. */
    async finish(): Promise<void> {
      const sum = Buffer.from(hash.copy().digest('hex'));
      await add(checksumName, sum.length, [sum]);
      await write(Buffer.alloc(2 * blockBytes));
      await file.sync();
    },
  };
}

export interface TarEntry {
  name: string;
  size: number;
  /** Must be read to its end before the next entry. */
  bytes: AsyncIterable<Buffer>;
}

/** Yields all entries except the checksum, and throws if that does not match. */
export async function* readTar(file: FileHandle): AsyncGenerator<TarEntry> {
  const hash = createHash('sha256');
  let position = 0;

  async function take(length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new BackupError('The backup is incomplete.');
    position += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  async function* content(size: number): AsyncGenerator<Buffer> {
    const end = position + size;
    while (position < end) {
      const chunk = await take(Math.min(chunkBytes, end - position));
      hash.update(chunk);
      yield chunk;
    }
    for (const padded = end + paddingOf(size); position < padded; ) hash.update(await take(padded - position));
  }

  for (;;) {
    const expected = hash.copy().digest('hex');
    const header = await take(blockBytes);
    const { name, size } = parseHeader(header);
    hash.update(header);
    const entry = { name, size, bytes: content(size) };
    if (name !== checksumName) yield entry;
    else if (size === expected.length && (await textOf(entry)) === expected) return;
    else throw new BackupError('The backup is damaged: its checksum does not match.');
  }
}

/** Only for short entries. */
const textOf = async ({ bytes }: TarEntry): Promise<string> =>
  Buffer.concat(await Array.fromAsync(bytes)).toString('utf8');

export const paddingOf = (size: number) => (blockBytes - (size % blockBytes)) % blockBytes;

interface Header {
  size: number;
  mode?: number;
  /** When the file was changed. */
  seconds?: number;
  /** The next one is a folder, and the last one a pax header. */
  kind?: '0' | '5' | 'x';
}

/** A name that is too long is cut. */
export function headerOf(name: string, { size, mode = 0o600, seconds = 0, kind = '0' }: Header): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  writeSize(header, size);
  header.write(octal(Math.min(seconds, largestOctal - 1), 11), 136);
  header.write(kind, 156);
  header.write('ustar\x0000', 257);
  header.write(`${octal(sumOf(header), 6)} `, 148);
  return header;
}

const octal = (value: number, digits: number) =>
  `${Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0')}\0`;

function writeSize(header: Buffer, size: number): void {
  if (size < largestOctal) return void header.write(octal(size, 11), 124);
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(BigInt(size), 128);
}

function parseHeader(header: Buffer): { name: string; size: number } {
  const isHeader = header.length === blockBytes && header.toString('latin1', 257, 262) === 'ustar';
  if (!isHeader || Number.parseInt(header.toString('latin1', 148, 154), 8) !== sumOf(header)) {
    throw new BackupError('This is not a backup of Poproom, or it is damaged.');
  }
  const isBinary = header[124] === 0x80;
  const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(header.toString('latin1', 124, 135), 8);
  return { name: header.toString('utf8', 0, 100).replace(/\0.*$/, ''), size };
}

/** The checksum of a header counts its own field as spaces. */
function sumOf(header: Buffer): number {
  const own = header.subarray(148, 156).reduce((sum, byte) => sum + byte, 0);
  return header.reduce((sum, byte) => sum + byte, 0) - own + 8 * 32;
}
