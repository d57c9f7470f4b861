/** Checkpoints are compressed, because a long text is stored again every 30 seconds while someone edits it. */

/** A short text is not compressed: that takes longer than writing it. */
export type Compressed = Uint8Array | string;

const shortText = 4096;

export function compress(text: string): Compressed {
  if (text.length <= shortText) return text;
  const { constants, zstdCompressSync } = process.getBuiltinModule('node:zlib');
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function decompress(content: Compressed): string {
  if (typeof content === 'string') return content;
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(content).toString();
}
