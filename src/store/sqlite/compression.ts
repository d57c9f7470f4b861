/** Checkpoints are compressed, because a long text is stored again every 30 seconds while someone edits it. */

/** Rows of earlier versions contain the uncompressed text. */
export type Compressed = Uint8Array | string;

export function compress(text: string): Uint8Array {
  const { constants, zstdCompressSync } = process.getBuiltinModule('node:zlib');
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function decompress(content: Compressed): string {
  if (typeof content === 'string') return content;
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(content).toString();
}
