/** What is said when there is no room for a file, wherever files are kept. */
import { PoproomError } from '../core/errors.ts';

export function storageFull(cause?: unknown): PoproomError {
  return new PoproomError('STORAGE_FULL', 'The server has no room left for files.', { cause });
}
