/** Errors that blob stores share. */
import { byteCount, PoproomError } from '../core/errors.ts';

export function storageFull(cause?: unknown): PoproomError {
  return new PoproomError('STORAGE_FULL', 'The server has no space left for files.', { cause });
}

/** The bytes of an upload that is on record are missing. */
export function bytesLost(): PoproomError {
  return new PoproomError('UPLOAD_NOT_FOUND', 'The bytes of this upload are lost. Start it again.');
}

export function tooLarge(maximum: number): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', `The file exceeds the limit of ${byteCount(maximum)}.`);
}

export function checksumMismatch(): PoproomError {
  return new PoproomError('CHECKSUM_MISMATCH', 'The bytes do not match their checksum. They were not stored.');
}
