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
  createCipheriv: CreateCipher<{ getAuthTag(): Uint8Array }>;
  createDecipheriv: CreateCipher<{ setAuthTag(tag: Uint8Array): void }>;
}

type CreateCipher<Tag> = (
  name: 'chacha20-poly1305',
  key: Uint8Array,
  nonce: Uint8Array,
  options: { authTagLength: number },
) => Tag & { update(bytes: Uint8Array): Uint8Array; final(): Uint8Array };

/** Not an import, because browsers and bundlers would fail on it. */
export function findNativeCrypto(): NativeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.('node:crypto') as NativeCrypto | undefined;
}
