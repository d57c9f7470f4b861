/** Local files as Blobs, several as one tar archive, and standard input and pipes, which are spooled to a file first. */
import { createReadStream, createWriteStream, rmSync, type Stats } from 'node:fs';
import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';

/** Programs can restore the time of modification, but not that of the last change. */
export type FileVersion = Record<'size' | 'mtimeMs' | 'ctimeMs', number>;

type FileRange = { path: string; version: FileVersion; start: number; end: number };
type Part = Buffer | FileRange;

/**
 * Bytes and parts of local files as a Blob that is read when it is sent. Node's own `openAsBlob` cannot hold more than
 * 4 GiB.
 */
class LocalBlob extends Blob {
  readonly #parts: readonly Part[];
  /** For the SDK, as that of a File. */
  readonly lastModified: number;

  constructor(parts: readonly Part[], lastModified: number) {
    super();
    this.#parts = parts;
    this.lastModified = lastModified;
  }

  override get size(): number {
    return this.#parts.reduce((sum, part) => sum + sizeOf(part), 0);
  }

  override slice(start = 0, end = this.size): Blob {
    const found: Part[] = [];
    let at = 0;
    for (const part of this.#parts) {
      const [from, to] = [Math.max(start - at, 0), Math.min(end - at, sizeOf(part))];
      if (from <= to) found.push(cut(part, from, to));
      at += sizeOf(part);
    }
    return new LocalBlob(found, this.lastModified);
  }

  override stream(): ReturnType<Blob['stream']> {
    return Readable.toWeb(Readable.from(read(this.#parts), { objectMode: false })) as ReturnType<Blob['stream']>;
  }
}

export class LocalFile extends LocalBlob {
  constructor(path: string, version: FileVersion) {
    super([{ path, version, start: 0, end: version.size }], version.mtimeMs);
  }
}

const sizeOf = (part: Part): number => ('path' in part ? part.end - part.start : part.length);

const cut = (part: Part, from: number, to: number): Part =>
  'path' in part ? { ...part, start: part.start + from, end: part.start + to } : part.subarray(from, to);

async function* read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if ('path' in part) yield* readRange(part);
    else yield part;
  }
}

/** Fails if the file has changed since it was found, because the parts that were sent would not fit together. */
async function* readRange({ path, version, start, end }: FileRange): AsyncGenerator<Uint8Array> {
  await assertUnchanged(path, version);
  // `end` of a stream is inclusive, so it cannot express an empty range.
  if (start === end) return;
  yield* createReadStream(path, { start, end: end - 1, highWaterMark: 256 * 1024 });
  await assertUnchanged(path, version);
}

async function assertUnchanged(path: string, { size, mtimeMs, ctimeMs }: FileVersion): Promise<void> {
  const current = await withFileErrors(path, () => stat(path));
  if (current.size === size && current.mtimeMs === mtimeMs && current.ctimeMs === ctimeMs) return;
  throw new FileError(`"${printable(path)}" changed during the upload and was not sent; try again.`);
}

/** `check` is called with the number of bytes so far. If it throws, reading stops. */
export type SpoolOptions = { signal?: AbortSignal; check?(bytes: number): void };

/** The files are removed when the process exits, also after an error or an interruption. */
export async function spool(source: AsyncIterable<Buffer>, { signal, check }: SpoolOptions = {}): Promise<LocalFile> {
  // Only its owner can open a folder that mkdtemp creates.
  const folder = await withFileErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'poproom-')));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'input');
  await withFileErrors(path, () =>
    pipeline(source, counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { ...(signal && { signal }) }),
  );
  return new LocalFile(path, await stat(path));

  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      check?.(bytes);
      yield chunk;
    }
  }
}

/** `name` is the path in the archive, which ends with `/` for a folder, and `path` the one on this machine. */
export type TarMember = { name: string; path: string; stats: Stats };

const blockBytes = 512;

/** `poproom send --tar`: many small files as one tar archive (POSIX pax), read from the disk while it is sent. */
export function createTar(members: readonly TarMember[]): LocalBlob {
  const parts = members.flatMap(({ name, path, stats }): Part[] => {
    const header = headersOf(name, stats);
    if (name.endsWith('/')) return [header];
    const { size, mtimeMs, ctimeMs } = stats;
    return [header, { path, version: { size, mtimeMs, ctimeMs }, start: 0, end: size }, Buffer.alloc(paddingOf(size))];
  });
  const modified = Math.max(0, ...members.map(({ stats }) => stats.mtimeMs));
  return new LocalBlob([...parts, Buffer.alloc(2 * blockBytes)], modified);
}

const paddingOf = (size: number) => (blockBytes - (size % blockBytes)) % blockBytes;

/** Long names, names in other scripts and large sizes need a pax header before the usual one. */
function headersOf(name: string, stats: Stats): Buffer {
  const size = name.endsWith('/') ? 0 : stats.size;
  const records = [paxRecord('path', name), paxRecord('mtime', String(Math.floor(stats.mtimeMs) / 1000))];
  if (size >= 8 ** 11) records.push(paxRecord('size', String(size)));
  const extended = Buffer.from(records.join(''));
  const kind = name.endsWith('/') ? '5' : '0';
  return Buffer.concat([
    headerOf('pax', { size: extended.length, mode: 0o644, seconds: 0, kind: 'x' }),
    extended,
    Buffer.alloc(paddingOf(extended.length)),
    headerOf(name, { size: size < 8 ** 11 ? size : 0, mode: stats.mode & 0o777, seconds: stats.mtimeMs / 1000, kind }),
  ]);
}

/** Its first field is its own length in bytes. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = bytes + String(bytes + String(bytes).length).length;
  return `${length}${rest}`;
}

type Header = Record<'size' | 'mode' | 'seconds', number> & { kind: '0' | '5' | 'x' };

function headerOf(name: string, { size, mode, seconds, kind }: Header): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) =>
    `${Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0')}\0`;
  // The pax header has the whole name, so this one may be cut, but not within a character.
  header.write(name, 0, 100, 'utf8');
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(Math.min(seconds, 8 ** 11 - 1), 11), 136);
  header.write(kind, 156);
  header.write('ustar\x0000', 257);
  header.write('        ', 148);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)} `, 148);
  return header;
}
