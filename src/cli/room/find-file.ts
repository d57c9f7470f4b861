/** Finds a file by its name or id. */
import { type FileEntry, PoproomError } from '../../client/index.ts';
import { printable } from '../printable.ts';

/** Of several files with the same name, returns the last one uploaded. */
export function findFile(files: readonly FileEntry[], name: string): FileEntry {
  const found = files.findLast(({ fileName, fileId }) => fileName === name || fileId === name);
  if (!found) throw new PoproomError('FILE_NOT_FOUND', `There is no file "${printable(name)}" in this room.`);
  return found;
}
