/** `poproom send --tar`: many small files as one tar archive (POSIX pax), read from the disk while it is sent. */
import type { Stats } from 'node:fs';
import { Readable } from 'node:stream';
import { LocalFile } from './local-file.ts';

/** `name` is the path in the archive, which ends with `/` for a folder, and `path` the one on this machine. */
export type TarMember = { name: string; path: string; stats: Stats };

const blockBytes = 512;

export function createTar(members: readonly TarMember[]): JoinedFile {
  const parts = members.flatMap(({ name, path, stats }): Part[] => {
    const header = headersOf(name, stats);
    if (name.endsWith('/')) return [header];
    const { size, mtimeMs, ctimeMs } = stats;
    return [header, new LocalFile(path, { size, mtimeMs, ctimeMs }), Buffer.alloc(paddingOf(size))];
  });
  const modified = Math.max(0, ...members.map(({ stats }) => stats.mtimeMs));
  return new JoinedFile([...parts, Buffer.alloc(2 * blockBytes)], modified);
}

type Part = Buffer | LocalFile;

const sizeOf = (part: Part): number => ('byteLength' in part ? part.byteLength : part.size);

/** Several parts as one Blob. Node's own constructor would not read the local files. */
class JoinedFile extends Blob {
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
      if (from < to) found.push('byteLength' in part ? part.subarray(from, to) : (part.slice(from, to) as LocalFile));
      at += sizeOf(part);
    }
    return new JoinedFile(found, this.lastModified);
  }

  override stream(): ReturnType<Blob['stream']> {
    return Readable.toWeb(Readable.from(this.#read(), { objectMode: false })) as ReturnType<Blob['stream']>;
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (const part of this.#parts) {
      if ('byteLength' in part) yield part;
      else yield* part.stream() as unknown as AsyncIterable<Uint8Array>;
    }
  }
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
