/** Files of a room: found by name, described and downloaded. */
import { EncryptionError, type FileEntry, PoproomError, type Room } from '../../client/index.ts';
import { withinSeconds } from '../../client/silence-limit.ts';
import { formatBytes, printable } from '../output.ts';
import { createProgress } from '../progress.ts';

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

interface Incoming {
  name: string;
  /** Bytes. */
  size: number;
  showsProgress: boolean;
  /** The longest silence of the server. Undefined means no limit. */
  timeoutSeconds: number | undefined;
}

type Consume = (bytes: AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Streams the bytes to `consume`, and fails if their number differs from the size that the server gave. A one-time file
 * is erased from the room when `consume` has resolved, and given back if it fails.
 */
export async function download(
  room: Room,
  file: FileEntry,
  { signal, ...how }: { signal: AbortSignal } & Pick<Incoming, 'showsProgress' | 'timeoutSeconds'>,
  consume: Consume,
): Promise<void> {
  const incoming = { name: file.fileName, size: file.fileSize, ...how };
  const save = (response: Response) => consumeResponse(response, incoming, consume);
  if (file.once) await receive(room, file, signal, save);
  else await save(await room.download(file, { signal }));
}

async function receive(
  room: Room,
  file: FileEntry,
  signal: AbortSignal,
  save: (response: Response) => Promise<void>,
): Promise<void> {
  let isSaved = false;
  try {
    await room.receive(file, {
      signal,
      async save(response) {
        await save(response);
        isSaved = true;
      },
    });
  } catch (error) {
    if (isSaved) console.error(`"${printable(file.fileName)}" is complete here, but may still be in the room.`);
    throw error;
  }
}

/** Streams a response to `consume`, with progress. */
export async function consumeResponse(response: Response, incoming: Incoming, consume: Consume): Promise<void> {
  const { name, size, showsProgress } = incoming;
  const progress = showsProgress ? createProgress(name, size) : undefined;
  try {
    progress?.show(0);
    await consume(counted(incoming, response, progress?.show));
    progress?.done();
  } catch (error) {
    progress?.clear();
    throw error;
  }
}

async function* counted(
  { name, size, timeoutSeconds }: Incoming,
  { body }: Response,
  show?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of inTime(body, timeoutSeconds)) {
      bytes += chunk.length;
      if (bytes > size) break;
      yield chunk;
      show?.(bytes);
    }
  } catch (error) {
    // A broken connection shows in the number of bytes, but damaged data may have the correct number.
    if (error instanceof EncryptionError) throw error;
  }
  if (bytes !== size) throw incomplete(name);
}

/** Ends if the server sends nothing more. The time that the reader takes for a chunk does not count. */
async function* inTime(body: Response['body'], timeoutSeconds: number | undefined): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  const cancel = () => reader.cancel();
  try {
    for (;;) {
      const { done, value } = await withinSeconds(timeoutSeconds, reader.read(), cancel);
      if (done) return;
      yield value;
    }
  } finally {
    await cancel().catch(() => undefined);
  }
}

const incomplete = (name: string) =>
  new PoproomError('UNAVAILABLE', `The connection was lost before "${printable(name)}" was complete; try again.`);
