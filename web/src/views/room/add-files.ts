/** Adds files to the uploads, unless they are too many. */
import type { RoomModel } from '../../room/room.ts';
import type { IncomingFile } from '../../room/uploads.ts';

export const loadUploadParts = () => import('../uploads/index.ts');

/** If the code cannot be loaded, the files wait for the connection. */
export async function addFiles(room: RoomModel, files: readonly IncomingFile[]): Promise<void> {
  const parts = await loadUploadParts().catch(() => undefined);
  if (!parts?.areTooMany(room, files.length)) room.uploads.add(files);
}
