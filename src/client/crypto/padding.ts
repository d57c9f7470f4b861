/** Padding that hides the exact size: Padmé, which adds at most 12 % (https://lbarman.ch/blog/padme/). */

/** The next size that Padmé allows: only the first few bits of the size may be set. */
export function paddedSize(size: number, minimum: number): number {
  if (size <= minimum) return minimum;
  const exponent = floorLog2(size);
  const step = 2 ** (exponent - (floorLog2(exponent) + 1));
  return Math.ceil(size / step) * step;
}

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

/** Exact for all safe integers, unlike Math.log2. */
function floorLog2(value: number): number {
  return value >= 2 ** 32 ? 63 - Math.clz32(Math.floor(value / 2 ** 32)) : 31 - Math.clz32(value);
}
