/** The names of blobs: hashes that core makes. */
import { PoproomError } from '../core/errors.ts';

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Anything but a hash is a mistake that must not reach a file system or a bucket. */
export function checkedName(blob: string): string {
  if (isBlobName(blob)) return blob;
  throw new PoproomError('INTERNAL', 'This is not the name of a blob.');
}
