/** The error for a full file store, for all drivers. */
import { PoproomError } from '../core/errors.ts';

export function storageFull(cause?: unknown): PoproomError {
  return new PoproomError('STORAGE_FULL', 'The server has no space left for files.', { cause });
}
