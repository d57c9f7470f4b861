/** The crypto module of Node, where there is one. It is several times faster than JavaScript. */

/** The part of `node:crypto` that we use. */
export interface NativeCrypto {
  getCiphers(): string[];
  scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    bytes: number,
    cost: { N: number; r: number; p: number; maxmem: number },
    done: (error: Error | null, key: Uint8Array) => void,
  ): void;
  createCipheriv(name: 'chacha20-poly1305', key: Uint8Array, nonce: Uint8Array, options: TagOptions): NativeCipher;
  createDecipheriv(name: 'chacha20-poly1305', key: Uint8Array, nonce: Uint8Array, options: TagOptions): NativeDecipher;
}

interface TagOptions {
  authTagLength: number;
}

interface NativeCipher {
  update(bytes: Uint8Array): Uint8Array;
  final(): Uint8Array;
  getAuthTag(): Uint8Array;
}

interface NativeDecipher {
  update(bytes: Uint8Array): Uint8Array;
  final(): Uint8Array;
  setAuthTag(tag: Uint8Array): void;
}

/** Not an import, because browsers and bundlers would fail on it. */
export function findNativeCrypto(): NativeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.('node:crypto') as NativeCrypto | undefined;
}
