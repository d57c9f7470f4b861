/** The files to upload: found, as Blobs or as one tar archive. Standard input and pipes are spooled to a file first. */
import { constants, createReadStream, createWriteStream, type Dirent, rmSync, type Stats } from 'node:fs';
import { access, mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { blockBytes, headerOf, paddingOf } from '../../backup/tar.ts';
import type { Input } from '../command.ts';
import { FileError, UsageError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { createRecord, type RecordedFile, recordName } from './room-files.ts';

export interface UploadInput {
  /** `-` is standard input. */
  path: string;
  fileName: string;
  /** The path of its folder in the room. */
  folder: string | undefined;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  once: boolean;
  /** Of a local file, which can be read again. */
  version?: FileVersion | undefined;
  /** Undefined for standard input and pipes, which have no size. */
  content: Blob | undefined;
}

export async function findUploadInputs(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const note = readNote(input, paths);
  const files = note && paths.length === 0 ? [] : await findFiles(input, paths);
  return note ? [...files, note] : files;
}

/** A note becomes a text file. The option `--name` is for the file that is sent with it, if there is one. */
function readNote(input: Input, paths: readonly string[]): UploadInput | undefined {
  const text = input.value('note');
  if (text === undefined) return undefined;
  if (text.trim() === '') throw new UsageError('--note must not be empty.');
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const named = paths.length === 0 ? input.value('name') : undefined;
  const fileName = named ?? `note-${date}-${time.replaceAll(':', '')}.txt`;
  const content = new Blob([text], { type: 'text/plain' });
  const once = input.isSet('once');
  return { path: fileName, fileName, folder: undefined, type: 'text/plain', once, content };
}

async function findFiles(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1 && !input.isSet('tar'))
    throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  if (input.isSet('tar')) return [await findTar(input, paths)];
  const found: FoundFile[] = [];
  for (const path of paths) found.push(...(await find(path, input)));
  // Only the records of folders.
  if (found.every(({ version, content }) => content && !version))
    throw new FileError(`There are no files in ${paths.join(', ')}.`);
  const { lookup } = await import('mrmime');
  return found.map((file) => {
    const fileName = name ?? basename(file.path);
    return { ...file, fileName, type: type ?? lookup(fileName), once: input.isSet('once') };
  });
}

async function findTar(input: Input, paths: readonly string[]): Promise<UploadInput> {
  if (paths.includes('-')) throw new UsageError('--tar takes files and folders, not standard input.');
  const members = (await Promise.all(paths.map(findMembers))).flat();
  const [first = ''] = paths;
  const fileName = input.value('name') ?? `${paths.length === 1 ? basename(resolve(first)) || 'files' : 'files'}.tar`;
  const content = createTar(members);
  const latest = (time: 'mtimeMs' | 'ctimeMs') => members.reduce((most, { stats }) => Math.max(most, stats[time]), 0);
  const version = { size: content.size, mtimeMs: latest('mtimeMs'), ctimeMs: latest('ctimeMs') };
  const type = input.value('type') ?? 'application/x-tar';
  return { path: first, folder: undefined, version, content, fileName, type, once: input.isSet('once') };
}

async function findMembers(path: string): Promise<TarMember[]> {
  const top = basename(resolve(path));
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) {
    await findFile(path, undefined, stats);
    if (!stats.isFile()) throw new FileError(`${path} is not a regular file.`);
    return [{ name: top, path, stats }];
  }
  const { files, empty } = await listFolder(path, top);
  const inside = (inRoom: string) => join(path, inRoom.slice(top.length + 1));
  const folders = new Set([...files.map(({ folder }) => folder), ...empty]);
  const named = [
    ...[...folders].map((folder) => ({ name: `${folder}/`, path: inside(folder) })),
    ...files.map(({ path, folder }) => ({ name: folder ? `${folder}/${basename(path)}` : basename(path), path })),
  ];
  const members: TarMember[] = [];
  for (const { name, path } of named.filter(({ name }) => name !== '/')) {
    const found = await withFileErrors(path, () => stat(path));
    if (!name.endsWith('/')) await findFile(path, undefined, found);
    members.push({ name, path, stats: found });
  }
  return members;
}

/** Reads standard input and pipes to their end. `check` is called with the bytes that they have so far. */
export async function openInput({ path, content }: UploadInput, options: SpoolOptions): Promise<Blob> {
  if (content) return content;
  if (path === '-') return spool(process.stdin, options);
  return withFileErrors(path, () => spool(createReadStream(path), options));
}

type FoundFile = Pick<UploadInput, 'path' | 'folder' | 'version' | 'content'>;

async function find(path: string, input: Input): Promise<FoundFile[]> {
  if (path === '-') return [{ path, folder: undefined, content: undefined }];
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) return [await findFile(path, undefined, stats)];
  if (!input.isSet('recursive')) throw new UsageError(`${path} is a folder; add -r to send the files in it.`);
  if (input.value('name') !== undefined) throw new UsageError('--name cannot be used with a folder.');
  const name = basename(resolve(path));
  const { files, empty } = await listFolder(path, name);
  const found: FoundFile[] = [];
  const recorded: RecordedFile[] = [];
  const below = (inRoom: string) => inRoom.slice(name === '' ? 0 : name.length + 1);
  for (const { path, folder } of files) {
    const stats = await withFileErrors(path, () => stat(path));
    found.push(await findFile(path, folder, stats));
    recorded.push({ path: below(`${folder}/${basename(path)}`), stats });
  }
  // The names of one-time files must not stay in the room.
  if (input.isSet('once') || name === '') return found;
  const content = new Blob([createRecord(recorded, empty.map(below).filter(Boolean))]);
  return [...found, { path: join(path, recordName), folder: name, content }];
}

/** A pipe, such as that of `<(…)`, has no size. */
async function findFile(path: string, folder: string | undefined, stats: Stats): Promise<FoundFile> {
  await withFileErrors(path, () => access(path, constants.R_OK));
  const { size, mtimeMs, ctimeMs } = stats;
  const version = stats.isFile() ? { size, mtimeMs, ctimeMs } : undefined;
  return { path, folder, version, content: version && new LocalFile(path, version) };
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}

/** Sorted by path. The folders are those in the room, which begin with the name of the listed one; also empty ones. */
async function listFolder(path: string, folder: string) {
  const entries = await withFileErrors(path, () => readdir(path, { withFileTypes: true }));
  const found = { files: [] as { path: string; folder: string }[], empty: entries.length === 0 ? [folder] : [] };
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const entryPath = join(path, entry.name);
    if (entry.isDirectory()) {
      const below = await listFolder(entryPath, folder ? `${folder}/${entry.name}` : entry.name);
      found.files.push(...below.files);
      found.empty.push(...below.empty);
    } else if (entry.isFile() && entry.name !== recordName) found.files.push({ path: entryPath, folder });
    else if (!entry.isFile()) console.error(`Skipped ${printable(entryPath)}: ${reasonToSkip(entry)}.`);
  }
  return found;
}

/** A symbolic link could lead to files that the user did not mean to send. */
const reasonToSkip = (entry: Dirent) =>
  entry.isSymbolicLink() ? 'symbolic links are not followed' : 'it is not a regular file';

/** Programs can restore the time of modification, but not that of the last change. */
type FileVersion = Record<'size' | 'mtimeMs' | 'ctimeMs', number>;

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
type TarMember = { name: string; path: string; stats: Stats };

/** `poproom send --tar`: many small files as one tar archive (POSIX pax), read from the disk while it is sent. */
function createTar(members: readonly TarMember[]): LocalBlob {
  const parts = members.flatMap(({ name, path, stats }): Part[] => {
    const header = headersOf(name, stats);
    if (name.endsWith('/')) return [header];
    const { size, mtimeMs, ctimeMs } = stats;
    return [header, { path, version: { size, mtimeMs, ctimeMs }, start: 0, end: size }, Buffer.alloc(paddingOf(size))];
  });
  const modified = Math.max(0, ...members.map(({ stats }) => stats.mtimeMs));
  return new LocalBlob([...parts, Buffer.alloc(2 * blockBytes)], modified);
}

/** Long names, names in other scripts and large sizes need a pax header before the usual one. */
function headersOf(name: string, stats: Stats): Buffer {
  const size = name.endsWith('/') ? 0 : stats.size;
  const records = [paxRecord('path', name), paxRecord('mtime', String(Math.floor(stats.mtimeMs) / 1000))];
  if (size >= 8 ** 11) records.push(paxRecord('size', String(size)));
  const extended = Buffer.from(records.join(''));
  const kind = name.endsWith('/') ? '5' : '0';
  return Buffer.concat([
    headerOf('pax', { size: extended.length, mode: 0o644, kind: 'x' }),
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
