/** `poproom send`: uploads files. */
import type { Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { FileError } from '../file-error.ts';
import { untilInterrupted } from '../interruption.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';
import { runSequentially } from '../sequential.ts';
import { withRoom } from '../server-context.ts';
import { readUploadInputs, type UploadInput } from './upload-inputs.ts';

export async function send(input: Input): Promise<void> {
  let uploads: Promise<readonly UploadInput[]> | undefined;
  await withRoom(input, async (room) => {
    // Runs again after a PIN prompt, but standard input can be read only once.
    uploads ??= readUploadInputs(input);
    const items = await uploads;
    await untilInterrupted((signal) =>
      runSequentially(input, { items, verb: 'Sent' }, (upload) => sendOne(room, upload, signal)),
    );
  });
}

async function sendOne(room: Room, { name, type, bytes }: UploadInput, signal: AbortSignal) {
  const progress = createProgress(name, bytes.size);
  try {
    const { fileUrl, fileName, fileSize } = await room.upload(bytes, { name, type, signal, onProgress: progress.show });
    progress.done();
    return { value: { fileUrl, fileName, fileSize }, line: printable(fileUrl) };
  } catch (error) {
    progress.clear();
    throw (error as Error).name === 'NotReadableError' ? changedDuringUpload(name) : error;
  }
}

const changedDuringUpload = (name: string) =>
  new FileError(`"${printable(name)}" changed during the upload and was not sent; try again.`);
