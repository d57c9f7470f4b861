/** How much space the room has left for files, by the server's limits. */
import type { ReadonlySignal } from '@preact/signals';
import { PoproomError } from '../../../src/client/light.ts';
import type { RoomContent } from './room-phase.ts';
import type { UploadState } from './upload-state.ts';

interface Upload {
  readonly file: File;
  readonly state: ReadonlySignal<UploadState>;
}

export interface RoomSpace {
  /** The size of the largest file that fits. */
  readonly bytes: number;
  readonly files: number;
}

/** Counts the uploads as well, because the server reserves their space. */
export function spaceLeft({ limits, files, fileSizes }: RoomContent, uploads: readonly Upload[]): RoomSpace {
  const pending = uploads.filter(({ state: { value } }) => value.name !== 'failed' && value.name !== 'cancelled');
  const sizes = [...files.map(({ fileSize }) => fileSize), ...pending.map(({ file }) => file.size)];
  const bytes = sizes.reduce((sum, size) => sum + (fileSizes?.storedSize(size) ?? size), 0);
  const left = Math.max(0, limits.fileBytesPerRoom - bytes);
  return { bytes: fileSizes?.largestFile(left) ?? left, files: limits.filesPerRoom - sizes.length };
}

/** The size of the largest file that the server accepts. */
export const largestFile = ({ limits: { fileBytes }, fileSizes }: RoomContent): number =>
  fileSizes?.largestFile(fileBytes) ?? fileBytes;

/** Why a file cannot be added, given the uploads that were added before it. */
export function refusalOf(content: RoomContent, file: File, uploads: readonly Upload[]): PoproomError | undefined {
  const { filesPerRoom } = content.limits;
  const maximum = largestFile(content);
  const refuse = (code: 'FILE_TOO_LARGE' | 'ROOM_FULL', details: Record<string, number>) =>
    new PoproomError(code, file.name, { details });
  if (file.size > maximum) return refuse('FILE_TOO_LARGE', { maximum });
  const left = spaceLeft(content, uploads);
  if (left.files < 1) return refuse('ROOM_FULL', { maximumFiles: filesPerRoom });
  return file.size > left.bytes ? refuse('ROOM_FULL', { bytesLeft: left.bytes }) : undefined;
}
