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
  readonly bytes: number;
  readonly files: number;
}

/** Counts the uploads as well, because the server reserves their space. */
export function spaceLeft({ limits, files }: RoomContent, uploads: readonly Upload[]): RoomSpace {
  const pending = uploads.filter(({ state: { value } }) => value.name !== 'failed' && value.name !== 'cancelled');
  const sizes = [...files.map(({ fileSize }) => fileSize), ...pending.map(({ file }) => file.size)];
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { bytes: Math.max(0, limits.fileBytesPerRoom - bytes), files: limits.filesPerRoom - sizes.length };
}

/** Why a file cannot be added, given the uploads that were added before it. */
export function refusalOf(content: RoomContent, file: File, uploads: readonly Upload[]): PoproomError | undefined {
  const { fileBytes, filesPerRoom } = content.limits;
  const refuse = (code: 'FILE_TOO_LARGE' | 'ROOM_FULL', details: Record<string, number>) =>
    new PoproomError(code, file.name, { details });
  if (file.size > fileBytes) return refuse('FILE_TOO_LARGE', { maximum: fileBytes });
  const left = spaceLeft(content, uploads);
  if (left.files < 1) return refuse('ROOM_FULL', { maximumFiles: filesPerRoom });
  return file.size > left.bytes ? refuse('ROOM_FULL', { bytesLeft: left.bytes }) : undefined;
}
