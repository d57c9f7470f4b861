/** Finds a file by its name, its path in the room or its id. */
import { type FileEntry, PoproomError } from '../../client/index.ts';
import { formatBytes } from '../counts.ts';
import { printable } from '../printable.ts';

/** Of several files with the same name, returns the last one uploaded. */
export function findFile(files: readonly FileEntry[], name: string): FileEntry {
  const found = files.findLast((file) => [file.fileName, pathInRoom(file), file.fileId].includes(name));
  if (!found) throw new PoproomError('FILE_NOT_FOUND', `There is no file "${printable(name)}" in this room.`);
  return found;
}

/** Such as `photos/2026/a.jpg`. */
export const pathInRoom = ({ folder, fileName }: { folder?: string | undefined; fileName: string }): string =>
  folder ? `${folder}/${fileName}` : fileName;

/** Such as `1.2 MiB` or `1.2 MiB, one-time`. */
export const formatSize = ({ fileSize, once }: FileEntry): string =>
  `${formatBytes(fileSize)}${once ? ', one-time' : ''}`;
