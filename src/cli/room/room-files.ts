/** Files of a room: found by name, described and downloaded. */
import { EncryptionError, type FileEntry, PoproomError, type Room } from '../../client/index.ts';
import { temporaryFailures } from '../../client/retry.ts';
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

/** `timeoutSeconds` is the longest silence of the server. Undefined means no limit. */
type Transfer = { showsProgress: boolean; timeoutSeconds: number | undefined };

type DownloadOptions = Transfer & { signal: AbortSignal; received?: ReceivedPart };

/** `offset` is the number of bytes that are here already. */
type Incoming = Transfer & { name: string; size: number; offset?: number };

/** The part of a file that an earlier command has received, with the `ETag` of the response that it is from. */
export type ReceivedPart = { bytes: number; tag: string | undefined };

export type Consume = (bytes: AsyncIterable<Uint8Array>) => Promise<void>;
export type ConsumePart = (bytes: AsyncIterable<Uint8Array>, received: ReceivedPart) => Promise<void>;

/**
 * Streams the bytes after those that are here already to `consume`, and fails if their number differs from the size that the
 * server gave. If the server has another file now, `consume` gets all of its bytes, and an empty part. A one-time file is
 * erased from the room when `consume` has resolved, and given back if it fails.
 */
export async function download(room: Room, file: FileEntry, options: DownloadOptions, consume: ConsumePart) {
  const { signal, received, ...how } = options;
  const { fileSize: size, fileName: name } = file;
  const range = received?.bytes ? { range: { from: received.bytes, to: size }, ifRange: received.tag } : undefined;

  async function save(response: Response): Promise<void> {
    // The decrypted response of a range has no status of its own. Bytes of another file could not be decrypted.
    const isRest = response.status === 206 || file.meta !== undefined;
    const offset = range && isRest ? range.range.from : 0;
    const part = { bytes: offset, tag: response.headers.get('ETag') ?? undefined };
    await consumeResponse(response, { name, size, offset, ...how }, (bytes) => consume(bytes, part));
  }

  if (!file.once) return save(await room.download(file, { signal, ...range }));
  let isSaved = false;
  const saveOnce = async (response: Response) => {
    await save(response);
    isSaved = true;
  };
  try {
    await room.receive(file, { signal, save: saveOnce });
  } catch (error) {
    if (isSaved) console.error(`"${printable(name)}" is complete here, but may still be in the room.`);
    throw error;
  }
}

export async function consumeResponse(response: Response, incoming: Incoming, consume: Consume): Promise<void> {
  const { name, size, offset = 0, showsProgress } = incoming;
  const progress = showsProgress ? createProgress(name, size) : undefined;
  try {
    progress?.show(offset);
    await consume(counted(incoming, response, progress?.show));
    progress?.done();
  } catch (error) {
    progress?.clear();
    throw error;
  }
}

async function* counted(incoming: Incoming, { body }: Response, show?: (bytes: number) => void) {
  const { name, size, offset = 0, timeoutSeconds } = incoming;
  let bytes = offset;
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
    if (bytes !== size) throw incomplete(name);
  }
  if (bytes !== size) throw incomplete(name, wrongLength);
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

function incomplete(name: string, cause?: typeof wrongLength): PoproomError {
  const message = `The connection was lost before "${printable(name)}" was complete; try again.`;
  return new PoproomError('UNAVAILABLE', message, { cause });
}

/** Of a complete response with more or fewer bytes than the file: there is nothing to continue. */
const wrongLength = 'wrong length';

export const isTemporary = (error: unknown) =>
  error instanceof PoproomError && error.cause !== wrongLength && temporaryFailures.includes(error.code);
