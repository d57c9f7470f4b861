/** Decrypts images, sound and video into memory, to show them. */
import { PoproomError } from '../../../../src/client/error.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { collectBlob, countBytes } from '../files/save-file.ts';

/** Larger ones have to be saved. */
export const maxMediaBytes = 256 * 1024 * 1024;

/** Types that no browser shows as a document, in which scripts would run on this origin. Not `…+xml`, for example. */
const safeTypes = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|(?:audio|video)\/[\w.-]+)$/;

/** Fails if the file is damaged, also at its end. */
export async function openMedia(
  room: RoomModel,
  file: SharedFile,
  signal: AbortSignal,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Blob> {
  const type = safeTypes.test(file.contentType) ? file.contentType : 'application/octet-stream';
  const { body } = await room.requests().download(file, { signal });
  try {
    return body ? await collectBlob(body.pipeThrough(countBytes(onBytes)), type) : new Blob([]);
  } catch (error) {
    throw error instanceof PoproomError ? error : new PoproomError('OFFLINE', String(error));
  }
}
