/** A file of a room on its way to this machine. */
import { type FileEntry, PoproomError, type Room } from '../../client/index.ts';
import { largestFile } from '../../protocol/largest-file.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';

/** Hands on its bytes as they come, and fails unless they are as many as the room says. */
export async function download(
  room: Room,
  file: FileEntry,
  { signal, showsProgress }: { signal: AbortSignal; showsProgress: boolean },
  keep: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  if (file.fileSize > largestFile) throw tooLarge(file);
  const response = await room.download(file, { signal });
  const progress = showsProgress ? createProgress(file.fileName, file.fileSize) : undefined;
  try {
    await keep(counted(file, response, progress?.show));
    progress?.done();
  } catch (error) {
    progress?.clear();
    throw error;
  }
}

async function* counted(file: FileEntry, { body }: Response, show?: (bytes: number) => void) {
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > file.fileSize) break;
      yield chunk;
      show?.(bytes);
    }
  } catch {
    // How a line breaks is of no interest; that it did shows in the number of bytes.
  }
  if (bytes !== file.fileSize) throw brokeOff(file);
}

/** No server of ours has such a file; another one could fill the disk. */
const tooLarge = ({ fileName }: FileEntry) =>
  new PoproomError('INVALID_RESPONSE', `"${printable(fileName)}" is larger than a file of a room can be.`);

const brokeOff = ({ fileName }: FileEntry) =>
  new PoproomError('UNAVAILABLE', `The connection broke before all of "${printable(fileName)}" had come.`);
