/** Encrypts and decrypts the chunks of a file, each with a tag. */
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { tagBytes } from '../../protocol/sealed.ts';
import { attempt } from '../shapes.ts';
import { findNativeCrypto, type NativeCrypto } from './native.ts';

/** The place of a chunk in its file. */
export interface ChunkPlace {
  readonly index: number;
  readonly isLast: boolean;
}

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
      return attempt(() => {
        decipher.final();
        return new Uint8Array(plaintext);
      });
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
