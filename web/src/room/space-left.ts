/** How much space the room has left for files, by the server's limits. */
import { signal } from '@preact/signals';
import type { RoomContent, RoomModel } from './room-phase.ts';
import type { IncomingFile, Upload } from './upload-state.ts';

export type SizedUpload = Pick<Upload, 'file' | 'state'>;

/** The size of the largest file that fits, and how many files. Counts the uploads as well: the server reserves their space. */
export function spaceLeft({ limits, files, fileSizes }: RoomContent, uploads: readonly SizedUpload[]) {
  const pending = uploads.filter(({ state: { value } }) => value.name !== 'failed' && value.name !== 'cancelled');
  const sizes = [...files.map(({ fileSize }) => fileSize), ...pending.map(({ file }) => file.size)];
  const bytes = sizes.reduce((sum, size) => sum + (fileSizes?.storedSize(size) ?? size), 0);
  const left = Math.max(0, limits.fileBytesPerRoom - bytes);
  return { bytes: fileSizes?.largestFile(left) ?? left, files: limits.filesPerRoom - sizes.length };
}

/** The files of a large selection that the room has no space for, until the user adds or dismisses them. */
export const leftOver = signal<LeftOver | undefined>(undefined);

interface LeftOver {
  readonly room: RoomModel;
  readonly files: readonly IncomingFile[];
  /** How many of the selection were added. */
  readonly fit: number;
  readonly once: boolean;
}

/** The size of the largest file that the server accepts. */
export const largestFile = ({ limits: { fileBytes }, fileSizes }: RoomContent): number =>
  fileSizes?.largestFile(fileBytes) ?? fileBytes;
