/** Finds and opens all files to upload, before the first one is sent. */
import { constants, createReadStream, createWriteStream, type Dirent, rmSync, type Stats } from 'node:fs';
import { access, mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Input } from '../command.ts';
import { FileError, UsageError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';

export interface UploadInput {
  /** `-` is standard input. */
  path: string;
  /** The name in the room. */
  fileName: string;
  /** The path of its folder in the room. */
  folder: string | undefined;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  /** Whether it becomes a one-time file. */
  once: boolean;
  /** Undefined for standard input and pipes, which have no size. */
  version: FileVersion | undefined;
}

export async function findUploadInputs(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1) throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  const found: FoundFile[] = [];
  for (const path of paths) found.push(...(await find(path, input)));
  if (found.length === 0) throw new FileError(`There are no files in ${paths.join(', ')}.`);
  const { lookup } = await import('mrmime');
  return found.map(({ path, folder, version }) => {
    const fileName = name ?? basename(path);
    return { path, folder, version, fileName, type: type ?? lookup(fileName), once: input.isSet('once') };
  });
}

/** Reads standard input and pipes to their end. `check` is called with the bytes that they have so far. */
export async function openInput(
  { path, version }: UploadInput,
  options: { signal: AbortSignal; check(bytes: number): void },
): Promise<LocalFile> {
  if (version) return new LocalFile(path, version);
  if (path === '-') return spool(process.stdin, options);
  return withFileErrors(path, () => spool(createReadStream(path), options));
}

type FoundFile = Pick<UploadInput, 'path' | 'folder' | 'version'>;

async function find(path: string, input: Input): Promise<FoundFile[]> {
  if (path === '-') return [{ path, folder: undefined, version: undefined }];
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) return [await findFile(path, undefined, stats)];
  if (!input.isSet('recursive')) throw new UsageError(`${path} is a folder; add -r to send the files in it.`);
  if (input.value('name') !== undefined) throw new UsageError('--name cannot be used with a folder.');
  const files = await listFolder(path);
  return Promise.all(
    files.map(async ({ path, folder }) => findFile(path, folder, await withFileErrors(path, () => stat(path)))),
  );
}

/** A pipe, such as that of `<(…)`, has no size. */
async function findFile(path: string, folder: string | undefined, stats: Stats): Promise<FoundFile> {
  await withFileErrors(path, () => access(path, constants.R_OK));
  const { size, mtimeMs, ctimeMs } = stats;
  return { path, folder, version: stats.isFile() ? { size, mtimeMs, ctimeMs } : undefined };
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}

interface FolderFile {
  path: string;
  /** The path of its folder in the room, which begins with the name of the listed folder. */
  folder: string;
}

/** Lists the files below a folder, sorted by path. */
function listFolder(path: string): Promise<FolderFile[]> {
  return listBelow(path, basename(resolve(path)));
}

async function listBelow(path: string, folder: string): Promise<FolderFile[]> {
  const entries = await withFileErrors(path, () => readdir(path, { withFileTypes: true }));
  const files: FolderFile[] = [];
  for (const entry of entries.sort(byName)) {
    const entryPath = join(path, entry.name);
    if (entry.isDirectory())
      files.push(...(await listBelow(entryPath, folder ? `${folder}/${entry.name}` : entry.name)));
    else if (entry.isFile()) files.push({ path: entryPath, folder });
    else console.error(`Skipped ${printable(entryPath)}: ${reasonToSkip(entry)}.`);
  }
  return files;
}

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1);

/** A symbolic link could lead to files that the user did not mean to send. */
const reasonToSkip = (entry: Dirent) =>
  entry.isSymbolicLink() ? 'symbolic links are not followed' : 'it is not a regular file';

interface FileVersion {
  size: number;
  mtimeMs: number;
  /** Programs can restore the time of modification, but not this one. */
  ctimeMs: number;
}

/**
 * A local file as a Blob that is read when it is sent. Node's own `openAsBlob` cannot hold more than 4 GiB. Reading fails if the file has changed since it was found, because
 * the parts that were sent would not fit together.
 */
export class LocalFile extends Blob {
  readonly #path: string;
  readonly #version: FileVersion;
  readonly #start: number;
  readonly #end: number;

  constructor(path: string, version: FileVersion, [start, end]: readonly [number, number] = [0, version.size]) {
    super();
    this.#path = path;
    this.#version = version;
    this.#start = start;
    this.#end = end;
  }

  override get size(): number {
    return this.#end - this.#start;
  }

  /** For the SDK, as that of a File. */
  get lastModified(): number {
    return this.#version.mtimeMs;
  }

  override slice(start = 0, end = this.size): Blob {
    const within = (offset: number) => this.#start + Math.min(Math.max(offset, 0), this.size);
    return new LocalFile(this.#path, this.#version, [within(start), Math.max(within(start), within(end))]);
  }

  override stream(): ReturnType<Blob['stream']> {
    return Readable.toWeb(Readable.from(this.#read(), { objectMode: false })) as ReturnType<Blob['stream']>;
  }

  async *#read(): AsyncGenerator<Buffer> {
    await this.#assertUnchanged();
    // `end` is inclusive, so an empty range cannot be expressed.
    if (this.size === 0) return;
    yield* createReadStream(this.#path, { start: this.#start, end: this.#end - 1, highWaterMark: 256 * 1024 });
    await this.#assertUnchanged();
  }

  async #assertUnchanged(): Promise<void> {
    const { size, mtimeMs, ctimeMs } = this.#version;
    const current = await withFileErrors(this.#path, () => stat(this.#path));
    if (current.size === size && current.mtimeMs === mtimeMs && current.ctimeMs === ctimeMs) return;
    throw new FileError(`"${printable(this.#path)}" changed during the upload and was not sent; try again.`);
  }
}

interface SpoolOptions {
  signal: AbortSignal;
  /** Called with the number of bytes so far. If it throws, reading stops. */
  check(bytes: number): void;
}

/** The files are removed when the process exits, also after an error or an interruption. */
export async function spool(source: AsyncIterable<Buffer>, { signal, check }: SpoolOptions): Promise<LocalFile> {
  // Only its owner can open a folder that mkdtemp creates.
  const folder = await withFileErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'poproom-')));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'input');
  await withFileErrors(path, () =>
    pipeline(source, counted(check), createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal }),
  );
  return new LocalFile(path, await stat(path));
}

function counted(check: (bytes: number) => void) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      check(bytes);
      yield chunk;
    }
  };
}
