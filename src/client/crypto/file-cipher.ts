/** Encrypts and decrypts files as streams, whole or in part. */
import { equalBytes } from '@noble/ciphers/utils.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { EncryptionError } from '../error.ts';
import { damaged } from './envelope.ts';
import {
  type ByteRange,
  type Chunk,
  type ChunkCipher,
  type CreateChunkCipher,
  createChunkCipher,
  type FileLayout,
  fileLayout,
  header,
  tagBytes,
} from './file-chunks.ts';
import type { RoomKeys } from './keys.ts';
import { type FileMetadata, fileSaltBytes } from './metadata.ts';

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
  const layout = fileLayout(size);
  const cipher = createCipher(hkdf(sha256, key, salt, utf8ToBytes('poproom/v1/file-key'), 32));
  const all = { from: 0, to: layout.ciphertextSize };
  return {
    /** The size of the encrypted file in bytes. */
    ciphertextSize: layout.ciphertextSize,
    /** The range of the file to pass to `encrypt` for this range of the encrypted file. */
    plaintextFor: layout.plaintextFor,
    /** The range of the encrypted file to pass to `decrypt` for this range of the file. */
    ciphertextFor: layout.ciphertextFor,
    /**
     * Returns the given range of the encrypted file, by default all of it. The result is always the same, so an
     * interrupted upload can continue, but only if the file has not changed: a changed file needs another salt. Fails
     * with `FILE_CHANGED` if a chunk has other bytes than before.
     */
    encrypt: (range: ByteRange = all) => transformBy((input) => encryptRange(layout, cipher, input, range, tags)),
    /** Returns the given range of the file. Without one, it takes the whole encrypted file and checks all of it. */
    decrypt: (range?: ByteRange) =>
      transformBy((input) => (range ? decryptRange(layout, cipher, input, range) : decryptAll(layout, cipher, input))),
  };
}

async function* encryptRange(
  layout: FileLayout,
  cipher: ChunkCipher,
  input: ByteReader,
  range: ByteRange,
  tags: SealedTags,
) {
  if (range.from < Math.min(range.to, header.length)) yield header.slice(range.from, range.to);
  for (const chunk of layout.chunksIn(range)) {
    const plaintext = new Uint8Array(lengthOf(chunk.plaintext));
    const expected = lengthWithin(chunk.plaintext, layout.size);
    const filled = await input.readInto(plaintext.subarray(0, expected));
    if (filled < expected) throw fileChanged();
    const sealed = await cipher.seal(chunk, plaintext);
    // Other bytes with the same nonce would reveal how they differ.
    if (!tags.add(chunk.index, sealed.subarray(-tagBytes))) throw fileChanged();
    yield part(sealed, chunk.ciphertext, range);
  }
  if (!(await input.isAtEnd())) throw fileChanged();
}

/** Encrypting a changed file with the same salt would reveal the difference. A stream may also have another size than announced. */
export function fileChanged(): EncryptionError {
  const message = 'The file has changed since its upload started, or its size is not the given one. Upload it again.';
  return new EncryptionError('FILE_CHANGED', message);
}

async function* decryptRange(layout: FileLayout, cipher: ChunkCipher, input: ByteReader, range: ByteRange) {
  for (const chunk of layout.chunksIn(layout.ciphertextFor(range))) {
    yield part(await openChunk(cipher, input, chunk), chunk.plaintext, range);
  }
  if (!(await input.isAtEnd())) throw damaged('The file');
}

/** Returns each chunk when it is verified. The end of the stream verifies the rest: the padding, and that nothing follows. */
async function* decryptAll(layout: FileLayout, cipher: ChunkCipher, input: ByteReader) {
  const start = new Uint8Array(header.length);
  await input.readInto(start);
  if (start.some((byte, index) => byte !== header[index])) throw damaged('The file');
  for (const chunk of layout.chunksIn({ from: 0, to: layout.ciphertextSize })) {
    const plaintext = await openChunk(cipher, input, chunk);
    const expected = lengthWithin(chunk.plaintext, layout.size);
    if (plaintext.subarray(expected).some((byte) => byte !== 0)) throw damaged('The file');
    if (expected > 0) yield plaintext.subarray(0, expected);
  }
  if (!(await input.isAtEnd())) throw damaged('The file');
}

async function openChunk(cipher: ChunkCipher, input: ByteReader, chunk: Chunk): Promise<Uint8Array<ArrayBuffer>> {
  const sealed = new Uint8Array(lengthOf(chunk.ciphertext));
  const filled = await input.readInto(sealed);
  const plaintext = filled === sealed.length ? await cipher.open(chunk, sealed) : undefined;
  if (!plaintext) throw damaged('The file');
  return plaintext;
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
