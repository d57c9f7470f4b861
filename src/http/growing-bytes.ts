const nothing: Buffer = Buffer.alloc(0);

/** Bytes in one piece, as they come: kept as the chunks they came in, a chunk of one byte would take two hundred. */
export class GrowingBytes {
  readonly #most: number;
  #bytes = nothing;
  #size = 0;

  /** Who adds sees to it that they are never more than `most`. */
  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    // Most bodies are of one chunk, which need not be copied.
    if (this.#size === 0) this.#bytes = chunk;
    else this.#append(chunk);
    this.#size += chunk.length;
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #append(chunk: Buffer): void {
    const needed = this.#size + chunk.length;
    if (needed > this.#bytes.length) this.#grow(Math.min(this.#most, Math.max(needed, 2 * this.#bytes.length)));
    chunk.copy(this.#bytes, this.#size);
  }

  #grow(capacity: number): void {
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}
