/** The form of an encrypted file: a header, and chunks of 64 KiB, each followed by a tag. */
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { encryptedFileHeader, paddedSize } from '../../protocol/sealed.ts';
import { attempt } from '../shapes.ts';
import { findNativeCrypto, type NativeCrypto } from './native.ts';

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

export type FileLayout = ReturnType<typeof fileLayout>;

export const header = new TextEncoder().encode(encryptedFileHeader);
const chunkBytes = 64 * 1024;
export const tagBytes = 16;
const sealedChunkBytes = chunkBytes + tagBytes;
const smallestPadded = 256;
/** Far beyond any disk, and all sizes with padding are still exact numbers. */
export const largestSize = 2 ** 50;

/** `size` is in bytes, without padding. */
export function fileLayout(size: number) {
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
    /** The chunks that contain a part of this range of the encrypted file. */
    *chunksIn(ciphertext: ByteRange): Generator<Chunk> {
      const [first, end] = indexesIn(ciphertext);
      for (let index = first; index < end; index += 1) yield chunkAt(index);
    },
    /** The range of the plaintext that is in these chunks, without padding. */
    plaintextFor(ciphertext: ByteRange): ByteRange {
      const [first, end] = indexesIn(ciphertext);
      return { from: Math.min(first * chunkBytes, size), to: Math.min(end * chunkBytes, size) };
    },
    /** The range of the encrypted file that contains this range of the plaintext: whole chunks, after the header. */
    ciphertextFor(plaintext: ByteRange): ByteRange {
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

export type ChunkPlace = Pick<Chunk, 'index' | 'isLast'>;

/** ChaCha20-Poly1305 with a nonce of the chunk's index and a flag for the last one (STREAM). It may use up its input. */
export interface ChunkCipher {
  /** Returns the ciphertext and the tag. */
  seal(place: ChunkPlace, plaintext: Uint8Array): MaybePromise<Uint8Array<ArrayBuffer>>;
  /** Returns undefined if the chunk was changed, or is from another place or file. */
  open(place: ChunkPlace, sealed: Uint8Array): MaybePromise<Uint8Array<ArrayBuffer> | undefined>;
}

type MaybePromise<T> = T | Promise<T>;

/** Creates the cipher for the key of a file. */
export type CreateChunkCipher = (key: Uint8Array) => ChunkCipher;

/** Ten times faster with Node's cipher. Other runtimes have `node:crypto` too, but not all have this cipher in it. */
export function createChunkCipher(key: Uint8Array): ChunkCipher {
  const native = findNativeCrypto();
  return native?.getCiphers().includes(nativeName) ? nativeCipher(native, key) : portableCipher(key);
}

export function portableCipher(key: Uint8Array): ChunkCipher {
  return {
    seal: (place, plaintext) => chacha20poly1305(key, nonceOf(place)).encrypt(plaintext),
    open: (place, sealed) => attempt(() => chacha20poly1305(key, nonceOf(place)).decrypt(sealed)),
  };
}

const nativeName = 'chacha20-poly1305';
const tagOptions = { authTagLength: tagBytes };

function nativeCipher(native: NativeCrypto, key: Uint8Array): ChunkCipher {
  return {
    seal(place, plaintext) {
      const cipher = native.createCipheriv(nativeName, key, nonceOf(place), tagOptions);
      const sealed = new Uint8Array(plaintext.length + tagBytes);
      sealed.set(cipher.update(plaintext));
      cipher.final();
      sealed.set(cipher.getAuthTag(), plaintext.length);
      return sealed;
    },
    open(place, sealed) {
      if (sealed.length < tagBytes) return undefined;
      const decipher = native.createDecipheriv(nativeName, key, nonceOf(place), tagOptions);
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      const plaintext = decipher.update(sealed.subarray(0, -tagBytes));
      try {
        decipher.final();
      } catch {
        return undefined;
      }
      return new Uint8Array(plaintext);
    },
  };
}

/** The index in 11 bytes, and 1 for the last chunk. */
function nonceOf({ index, isLast }: ChunkPlace): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setBigUint64(3, BigInt(index));
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
