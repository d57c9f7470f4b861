/** Encrypts and decrypts files as streams, whole or in part: a header, and chunks of 64 KiB, each followed by a tag. */
import { equalBytes } from '@noble/ciphers/utils.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { encryptedFileHeader, paddedSize, tagBytes } from '../../protocol/sealed.ts';
import { EncryptionError } from '../error.ts';
import { type ChunkPlace, type CreateChunkCipher, createChunkCipher } from './chunk-cipher.ts';
import { damaged } from './envelope.ts';
import type { RoomKeys } from './keys.ts';
import { type FileMetadata, fileSaltBytes, largestSize } from './metadata.ts';

/** `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

interface Chunk extends ChunkPlace {
  /** In the plaintext with padding. */
  readonly plaintext: ByteRange;
  /** In the encrypted file. */
  readonly ciphertext: ByteRange;
}

const header = new TextEncoder().encode(encryptedFileHeader);
const chunkBytes = 64 * 1024;
const sealedChunkBytes = chunkBytes + tagBytes;
const smallestPadded = 256;

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

export type FileCipher = ReturnType<typeof createFileCipher>;
export type SealedTags = ReturnType<typeof createSealedTags>;

/** The tags of the chunks that were encrypted with a salt. Needs 16 bytes for each chunk. */
export function createSealedTags() {
  const pages = new Map<number, Uint8Array>();
  return {
    /** Returns false if the chunk was encrypted before, with another tag. */
    add(index: number, tag: Uint8Array): boolean {
      const [page, within] = [Math.floor(index / tagsPerPage), index % tagsPerPage];
      const tags = pages.get(page) ?? new Uint8Array(tagsPerPage * tagBytes);
      pages.set(page, tags);
      // A new place is zero.
      const place = tags.subarray(within * tagBytes, (within + 1) * tagBytes);
      if (place.every((byte) => byte === 0)) place.set(tag);
      return equalBytes(place, tag);
    },
  };
}

const tagsPerPage = 256;

/** Pass the same tags to all ciphers with the same salt. */
export function createFileCipher(
  keys: Pick<RoomKeys, 'file'>,
  { size, salt, key = keys.file }: Pick<FileMetadata, 'size' | 'salt' | 'key'>,
  createCipher: CreateChunkCipher = createChunkCipher,
  tags = createSealedTags(),
) {
  if (salt.length !== fileSaltBytes) throw new RangeError(`The salt of a file has ${fileSaltBytes} bytes.`);
  const { ciphertextSize, chunksIn, plaintextFor, ciphertextFor } = fileLayout(size);
  const cipher = createCipher(hkdf(sha256, key, salt, utf8ToBytes('poproom/v1/file-key'), 32));
  const all = { from: 0, to: ciphertextSize };

  async function* encrypt(input: ByteReader, range: ByteRange) {
    if (range.from < Math.min(range.to, header.length)) yield header.slice(range.from, range.to);
    for (const chunk of chunksIn(range)) {
      const plaintext = new Uint8Array(lengthOf(chunk.plaintext));
      const expected = lengthWithin(chunk.plaintext, size);
      const filled = await input.readInto(plaintext.subarray(0, expected));
      if (filled < expected) throw fileChanged();
      const sealed = await cipher.seal(chunk, plaintext);
      // Other bytes with the same nonce would reveal how they differ.
      if (!tags.add(chunk.index, sealed.subarray(-tagBytes))) throw fileChanged();
      yield part(sealed, chunk.ciphertext, range);
    }
    if (!(await input.isAtEnd())) throw fileChanged();
  }

  /** Returns each chunk when it is verified. The end of the stream verifies that nothing follows. */
  async function* decrypt(input: ByteReader, range: ByteRange) {
    for (const chunk of chunksIn(ciphertextFor(range)))
      yield part(await openChunk(input, chunk), chunk.plaintext, range);
    if (!(await input.isAtEnd())) throw damaged('The file');
  }

  /** The end of the stream also verifies the padding. */
  async function* decryptAll(input: ByteReader) {
    const start = new Uint8Array(header.length);
    await input.readInto(start);
    if (start.some((byte, index) => byte !== header[index])) throw damaged('The file');
    for (const chunk of chunksIn(all)) {
      const plaintext = await openChunk(input, chunk);
      const expected = lengthWithin(chunk.plaintext, size);
      if (plaintext.subarray(expected).some((byte) => byte !== 0)) throw damaged('The file');
      if (expected > 0) yield plaintext.subarray(0, expected);
    }
    if (!(await input.isAtEnd())) throw damaged('The file');
  }

  async function openChunk(input: ByteReader, chunk: Chunk): Promise<Uint8Array<ArrayBuffer>> {
    const sealed = new Uint8Array(lengthOf(chunk.ciphertext));
    const filled = await input.readInto(sealed);
    const plaintext = filled === sealed.length ? await cipher.open(chunk, sealed) : undefined;
    if (!plaintext) throw damaged('The file');
    return plaintext;
  }

  return {
    /** The size of the encrypted file in bytes. */
    ciphertextSize,
    /** The range of the file to pass to `encrypt` for this range of the encrypted file. */
    plaintextFor,
    /** The range of the encrypted file to pass to `decrypt` for this range of the file. */
    ciphertextFor,
    /**
     * Returns the given range of the encrypted file, by default all of it. The result is always the same, so an
     * interrupted upload can continue, but only if the file has not changed: a changed file needs another salt. Fails
     * with `FILE_CHANGED` if a chunk has other bytes than before.
     */
    encrypt: (range: ByteRange = all) => transformBy((input) => encrypt(input, range)),
    /** Returns the given range of the file. Without one, it takes the whole encrypted file and checks all of it. */
    decrypt: (range?: ByteRange) => transformBy((input) => (range ? decrypt(input, range) : decryptAll(input))),
  };
}

/** Encrypting a changed file with the same salt would reveal the difference. A stream may also have another size than announced. */
export function fileChanged(): EncryptionError {
  const message = 'The file has changed since its upload started, or its size is not the given one. Upload it again.';
  return new EncryptionError('FILE_CHANGED', message);
}

/** The part of the bytes, which are at `place`, that is in `range`. */
const part = (bytes: Uint8Array<ArrayBuffer>, place: ByteRange, range: ByteRange): Uint8Array<ArrayBuffer> =>
  bytes.subarray(Math.max(range.from - place.from, 0), Math.min(range.to, place.to) - place.from);

const lengthOf = ({ from, to }: ByteRange): number => to - from;

const lengthWithin = ({ from, to }: ByteRange, size: number): number => Math.max(0, Math.min(to, size) - from);

/** For `pipeThrough`. Runs only as fast as its output is read: a TransformStream would hold the padding of a large file. */
function transformBy(transform: (input: ByteReader) => AsyncGenerator<Uint8Array<ArrayBuffer>>) {
  const { writable, readable } = new TransformStream<Uint8Array, Uint8Array>();
  const input = createByteReader(readable);
  const output = transform(input);
  return {
    writable,
    readable: new ReadableStream<Uint8Array<ArrayBuffer>>({
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

type ByteReader = ReturnType<typeof createByteReader>;

/** Reads a stream in pieces of a given size. */
function createByteReader(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  /** Read from the stream, but not yet returned. */
  let rest = new Uint8Array(0) as Uint8Array;

  async function isAtEnd(): Promise<boolean> {
    while (rest.length === 0) {
      const { done, value } = await reader.read();
      if (done) return true;
      rest = value;
    }
    return false;
  }

  return {
    isAtEnd,
    /** Fills the bytes. Returns how many there were, which are fewer only at the end. */
    async readInto(bytes: Uint8Array): Promise<number> {
      let filled = 0;
      while (filled < bytes.length && !(await isAtEnd())) {
        const part = rest.subarray(0, bytes.length - filled);
        bytes.set(part, filled);
        filled += part.length;
        rest = rest.subarray(part.length);
      }
      return filled;
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  };
}
