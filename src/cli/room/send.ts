/** `poproom send`: uploads files. */
import type { Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { FileError } from '../file-error.ts';
import { untilInterrupted } from '../interruption.ts';
import { printable } from '../printable.ts';
import { createProgress } from '../progress.ts';
import { runSequentially } from '../sequential.ts';
import { inRoom } from '../server-context.ts';
import { readUploadInputs, type UploadInput } from './upload-inputs.ts';

export async function send(input: Input): Promise<void> {
  let packed: Promise<readonly UploadInput[]> | undefined;
  await inRoom(input, async (room) => {
    // Only once: where a PIN is asked for, all is done again, and standard input cannot be read again.
    packed ??= readUploadInputs(input);
    const items = await packed;
    await untilInterrupted((signal) =>
      runSequentially(input, { items, verb: 'Sent' }, (parcel) => sendOne(room, parcel, signal)),
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
    throw (error as Error).name === 'NotReadableError' ? changedMeanwhile(name) : error;
  }
}

const changedMeanwhile = (name: string) =>
  new FileError(`"${printable(name)}" changed while it was sent; nothing of it was kept.`);
