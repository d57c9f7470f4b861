/** Where the bytes of a file are in its encrypted form: a header, and chunks of 64 KiB, each followed by a tag. */
import { paddedSize } from '../../protocol/sealed.ts';

/** `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface Chunk {
  readonly index: number;
  readonly isLast: boolean;
  /** In the plaintext with padding. */
  readonly plaintext: ByteRange;
  /** In the encrypted file. */
  readonly ciphertext: ByteRange;
}

export interface FileLayout {
  /** In bytes, without padding. */
  readonly size: number;
  readonly ciphertextSize: number;
  /** The chunks that contain a part of this range of the encrypted file. */
  chunksIn(ciphertext: ByteRange): Generator<Chunk>;
  /** The range of the plaintext that is in these chunks, without padding. */
  plaintextFor(ciphertext: ByteRange): ByteRange;
  /** The range of the encrypted file that contains this range of the plaintext: whole chunks, after the header. */
  ciphertextFor(plaintext: ByteRange): ByteRange;
}

export const header = new TextEncoder().encode('POPENC1\n');
export const chunkBytes = 64 * 1024;
export const tagBytes = 16;
const sealedChunkBytes = chunkBytes + tagBytes;
const smallestPadded = 256;
/** Far beyond any disk, and all sizes with padding are still exact numbers. */
export const largestSize = 2 ** 50;

export function fileLayout(size: number): FileLayout {
  if (!Number.isSafeInteger(size) || size < 0 || size > largestSize) throw new RangeError('The size is invalid.');
  const padded = paddedSize(size, smallestPadded);
  const chunkCount = Math.ceil(padded / chunkBytes);
  const ciphertextSize = header.length + padded + chunkCount * tagBytes;

  function chunkAt(index: number): Chunk {
    const isLast = index === chunkCount - 1;
    const [from, start] = [index * chunkBytes, header.length + index * sealedChunkBytes];
    return {
      index,
      isLast,
      plaintext: { from, to: isLast ? padded : from + chunkBytes },
      ciphertext: { from: start, to: isLast ? ciphertextSize : start + sealedChunkBytes },
    };
  }

  /** From the first index to before the second. */
  function indexesIn(range: ByteRange): [number, number] {
    checkRange(range, ciphertextSize);
    const [from, to] = [Math.max(range.from - header.length, 0), Math.max(range.to - header.length, 0)];
    return from < to ? [Math.floor(from / sealedChunkBytes), Math.ceil(to / sealedChunkBytes)] : [0, 0];
  }

  return {
    size,
    ciphertextSize,
    *chunksIn(ciphertext) {
      const [first, end] = indexesIn(ciphertext);
      for (let index = first; index < end; index += 1) yield chunkAt(index);
    },
    plaintextFor(ciphertext) {
      const [first, end] = indexesIn(ciphertext);
      return { from: Math.min(first * chunkBytes, size), to: Math.min(end * chunkBytes, size) };
    },
    ciphertextFor(plaintext) {
      checkRange(plaintext, size);
      if (plaintext.from === plaintext.to) return { from: header.length, to: header.length };
      const last = chunkAt(Math.ceil(plaintext.to / chunkBytes) - 1);
      return { from: chunkAt(Math.floor(plaintext.from / chunkBytes)).ciphertext.from, to: last.ciphertext.to };
    },
  };
}

function checkRange({ from, to }: ByteRange, size: number): void {
  const isValid = Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to && to <= size;
  if (!isValid) throw new RangeError(`The range from ${from} to ${to} is not within ${size} bytes.`);
}
