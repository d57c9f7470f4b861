/** Checkpoints are compressed, since a long text is stored again every 30 seconds while someone types in it. */

/** Rows of earlier versions have the text itself. */
export type Compressed = Uint8Array | string;

export function compress(text: string): Uint8Array {
  const { constants, zstdCompressSync } = process.getBuiltinModule('node:zlib');
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function decompress(content: Compressed): string {
  if (typeof content === 'string') return content;
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(content).toString();
}
