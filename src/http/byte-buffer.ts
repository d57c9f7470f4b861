/** Bytes as they arrive, in pieces that take little more memory than they have bytes. */

/** Shorter chunks are copied into blocks: an object for each byte would take two hundred times its size. */
const shortChunk = 16 * 1024;
const blockSize = 64 * 1024;

export class ByteBuffer {
  readonly #pieces: Buffer[] = [];
  /** The last piece, if it is a block that is not full. */
  #block: Buffer | undefined;
  #used = 0;
  #capacity = 0;

  /** How much memory it takes. */
  get capacity(): number {
    return this.#capacity;
  }

  add(chunk: Buffer): void {
    if (this.#capacity === 0 || chunk.length >= shortChunk) this.#keep(chunk);
    else this.#copy(chunk);
  }

  /** All bytes in one piece. */
  whole(): Buffer {
    this.#endBlock();
    return this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
  }

  #keep(chunk: Buffer): void {
    this.#endBlock();
    this.#pieces.push(chunk);
    this.#capacity += chunk.length;
  }

  #copy(chunk: Buffer): void {
    if (!this.#block || this.#used + chunk.length > this.#block.length) this.#startBlock();
    const block = this.#block as Buffer;
    chunk.copy(block, this.#used);
    this.#used += chunk.length;
  }

  #startBlock(): void {
    this.#endBlock();
    this.#block = Buffer.allocUnsafeSlow(blockSize);
    this.#used = 0;
    this.#capacity += blockSize;
  }

  #endBlock(): void {
    if (this.#block) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
  }
}
