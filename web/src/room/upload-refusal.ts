/** Refuses files that the server would not accept. */
import { PoproomError } from '../../../src/client/error.ts';
import type { RoomContent } from './room-phase.ts';
import { largestFile, type SizedUpload, spaceLeft } from './space.ts';

/** Why a file cannot be added, given the uploads that were added before it. */
export function refusalOf(content: RoomContent, file: File, uploads: readonly SizedUpload[]): PoproomError | undefined {
  const { filesPerRoom } = content.limits;
  const maximum = largestFile(content);
  const refuse = (code: 'FILE_TOO_LARGE' | 'ROOM_FULL', details: Record<string, number>) =>
    new PoproomError(code, file.name, { details });
  if (file.size > maximum) return refuse('FILE_TOO_LARGE', { maximum });
  const left = spaceLeft(content, uploads);
  if (left.files < 1) return refuse('ROOM_FULL', { maximumFiles: filesPerRoom });
  return file.size > left.bytes ? refuse('ROOM_FULL', { bytesLeft: left.bytes }) : undefined;
}
