/** Streams that a generator transforms. */

/** For `pipeThrough`, like a TransformStream. */
export interface ByteTransform {
  readonly writable: WritableStream<Uint8Array>;
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * The generator runs only as fast as its output is read. A TransformStream would hold all output of its end in memory,
 * which for the padding of a large file is many chunks.
 */
export function transformBy(transform: (input: ByteReader) => AsyncGenerator<Uint8Array<ArrayBuffer>>): ByteTransform {
  const { writable, readable } = new TransformStream<Uint8Array, Uint8Array>();
  const input = new ByteReader(readable);
  const output = transform(input);
  return {
    writable,
    readable: new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await output.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          // The source must stop too.
          await input.cancel(error).catch(() => undefined);
          throw error;
        }
      },
      cancel: (reason) => input.cancel(reason),
    }),
  };
}

/** Reads a stream in pieces of a given size. */
export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Read from the stream, but not yet returned. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Fills the bytes. Returns how many there were, which are fewer only at the end. */
  async readInto(bytes: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < bytes.length && (await this.#hasMore())) {
      const part = this.#rest.subarray(0, bytes.length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return filled;
  }

  async isAtEnd(): Promise<boolean> {
    return !(await this.#hasMore());
  }

  cancel(reason: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }

  async #hasMore(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}
