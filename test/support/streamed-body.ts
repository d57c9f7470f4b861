/** A body that fetch sends in chunks, without announcing its length. */
export function streamed(bytes: string | Uint8Array): ReadableStream {
  return new Blob([new Uint8Array(Buffer.from(bytes))]).stream();
}
