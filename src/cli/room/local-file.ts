/** Local files as Blobs, and standard input and pipes, which are spooled to a file first. */
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';

/** Programs can restore the time of modification, but not that of the last change. */
export type FileVersion = Record<'size' | 'mtimeMs' | 'ctimeMs', number>;

/**
 * A local file as a Blob that is read when it is sent. Node's own `openAsBlob` cannot hold more than 4 GiB. Reading fails if the file has changed since it was found, because
 * the parts that were sent would not fit together.
 */
export class LocalFile extends Blob {
  readonly #path: string;
  readonly #version: FileVersion;
  readonly #start: number;
  readonly #end: number;

  constructor(path: string, version: FileVersion, start = 0, end = version.size) {
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
    return new LocalFile(this.#path, this.#version, within(start), Math.max(within(start), within(end)));
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
