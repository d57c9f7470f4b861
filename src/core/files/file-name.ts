/** Names of files and folders. They are for display only and never used as a path. */
import { cleanFolder as clean, folderLimits } from '../../protocol/file-name.ts';
import { PoproomError } from '../errors.ts';

export { cleanFileName, cleanType, removeUnsafeCharacters } from '../../protocol/file-name.ts';

export function cleanFolder(raw: string): string {
  const folder = clean(raw);
  if (folder !== undefined) return folder;
  throw new PoproomError(
    'VALIDATION_FAILED',
    `The folder of a file may have at most ${folderLimits.levels} levels and ${folderLimits.bytes} bytes.`,
    { details: { field: 'folder' } },
  );
}
