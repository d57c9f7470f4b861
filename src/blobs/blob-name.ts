/** Blob names: hashes created by core. */
import { PoproomError } from '../core/errors.ts';

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Only a hash may reach the file system or a bucket. */
export function checkedName(blob: string): string {
  if (isBlobName(blob)) return blob;
  throw new PoproomError('INTERNAL', 'Invalid blob name.');
}
