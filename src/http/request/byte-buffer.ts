/** Collects chunks in little more memory than they have bytes. */
import { freeBuffer } from '../../core/defence/garbage.ts';

/** Shorter chunks are copied into blocks: a Buffer of one byte takes two hundred times its size. */
const shortChunk = 16 * 1024;
/** Each block is as large as all earlier ones together, within these limits. */
const [smallestBlock, largestBlock] = [1024, 64 * 1024];

const nothing: Buffer = Buffer.alloc(0);

export class ByteBuffer {
  readonly #pieces: Buffer[] = [];
  /** The current block, if it has free space. */
  #block: Buffer | undefined;
  #used = 0;
  #capacity = 0;

  /** The allocated bytes. */
  get capacity(): number {
    return this.#capacity;
  }

  add(chunk: Buffer): void {
    if (this.#capacity === 0 || chunk.length >= shortChunk) this.#keep(chunk);
    else this.#copy(chunk);
  }

  /** All bytes in one buffer. */
  whole(): Buffer {
    this.#endBlock();
    if (this.#pieces.length > 1) {
      const parts = this.#pieces.splice(0);
      this.#pieces.push(Buffer.concat(parts));
      for (const part of parts) freeBuffer(part);
    }
    return this.#pieces[0] ?? nothing;
  }

  /** Call this when nothing uses the bytes any more. */
  free(): void {
    for (const piece of this.#pieces.splice(0)) if (piece.length >= shortChunk) freeBuffer(piece);
  }

  #keep(chunk: Buffer): void {
    this.#endBlock();
    this.#pieces.push(chunk);
    this.#capacity += chunk.length;
  }

  #copy(chunk: Buffer): void {
    if (!this.#block || this.#used + chunk.length > this.#block.length) this.#startBlock(chunk.length);
    const block = this.#block as Buffer;
    chunk.copy(block, this.#used);
    this.#used += chunk.length;
  }

  #startBlock(needed: number): void {
    this.#endBlock();
    const size = Math.max(needed, smallestBlock, Math.min(this.#capacity, largestBlock));
    this.#block = Buffer.allocUnsafeSlow(size);
    this.#used = 0;
    this.#capacity += size;
  }

  #endBlock(): void {
    if (this.#block) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
  }
}
