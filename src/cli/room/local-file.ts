/** A local file as a Blob that is read when it is sent. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { FileError, withFileErrors } from '../file-error.ts';
import { printable } from '../printable.ts';

export interface FileVersion {
  size: number;
  mtimeMs: number;
  /** Programs can restore the time of modification, but not this one. */
  ctimeMs: number;
}

/**
 * Node's own `openAsBlob` cannot hold more than 4 GiB. Reading fails if the file has changed since it was found, because
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
