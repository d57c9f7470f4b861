/** Padding that hides the exact size: Padmé, which adds at most 12 %. */
import { paddedSize } from '../../protocol/sealed.ts';

/** Appends 0x80 and zeros. */
export function pad(bytes: Uint8Array, minimum: number): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(paddedSize(bytes.length + 1, minimum));
  padded.set(bytes);
  padded[bytes.length] = marker;
  return padded;
}

/** Returns undefined if the bytes are not the result of `pad`. */
export function unpad(padded: Uint8Array, minimum: number): Uint8Array | undefined {
  let end = padded.length - 1;
  while (end >= 0 && padded[end] === 0) end -= 1;
  if (padded[end] !== marker || padded.length !== paddedSize(end + 1, minimum)) return undefined;
  return padded.subarray(0, end);
}

const marker = 0x80;
