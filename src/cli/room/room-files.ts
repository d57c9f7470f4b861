/** Files of a room: found by name, described and downloaded; and the records of sent folders. */
import type { Stats } from 'node:fs';
import { chmod, stat, utimes } from 'node:fs/promises';
import { EncryptionError, type FileEntry, PoproomError, type Room } from '../../client/index.ts';
import { temporaryFailures } from '../../client/retry.ts';
import { formatBytes, printable } from '../output.ts';
import { createProgress } from '../progress.ts';
import { firstBytes } from '../prompt.ts';

/** Of several files with the same name, returns the last one uploaded. */
export function findFile(files: readonly FileEntry[], name: string): FileEntry {
  const found = files.findLast((file) => [file.fileName, pathInRoom(file), file.fileId].includes(name));
  if (!found) throw new PoproomError('FILE_NOT_FOUND', `There is no file "${printable(name)}" in this room.`);
  return found;
}

export type NamedFile = { folder?: string | undefined; fileName: string };

/** Such as `photos/2026/a.jpg`. */
export const pathInRoom = ({ folder, fileName }: NamedFile): string => (folder ? `${folder}/${fileName}` : fileName);

/** Such as `1.2 MiB` or `1.2 MiB, one-time`. */
export const formatSize = ({ fileSize, once }: FileEntry): string =>
  `${formatBytes(fileSize)}${once ? ', one-time' : ''}`;

type DownloadOptions = { signal: AbortSignal; showsProgress: boolean; received?: ReceivedPart };

/** `offset` is the number of bytes that are here already. */
type Incoming = { name: string; size: number; offset?: number; showsProgress: boolean };

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
  const { signal, received, showsProgress } = options;
  const { fileSize: size, fileName: name } = file;
  const range = received?.bytes ? { range: { from: received.bytes, to: size }, ifRange: received.tag } : undefined;
  let isSaved = false;

  async function save(response: Response): Promise<void> {
    // The decrypted response of a range has no status of its own. Bytes of another file could not be decrypted.
    const isRest = response.status === 206 || file.meta !== undefined;
    const offset = range && isRest ? range.range.from : 0;
    const part = { bytes: offset, tag: response.headers.get('ETag') ?? undefined };
    await consumeResponse(response, { name, size, offset, showsProgress }, (bytes) => consume(bytes, part));
    isSaved = true;
  }

  if (!file.once) return save(await room.download(file, { signal, ...range }));
  try {
    await room.receive(file, { signal, save });
  } catch (error) {
    if (isSaved) console.error(`"${printable(name)}" is complete here, but may still be in the room.`);
    throw error;
  }
}

export async function consumeResponse(response: Response, incoming: Incoming, consume: Consume): Promise<void> {
  const { name, size, offset = 0, showsProgress } = incoming;
  using progress = showsProgress ? createProgress(name, size) : undefined;
  progress?.show(offset);
  await consume(counted(incoming, response, progress?.show));
  progress?.done();
}

async function* counted({ name, size, offset = 0 }: Incoming, { body }: Response, show?: (bytes: number) => void) {
  let bytes = offset;
  try {
    for await (const chunk of body ?? []) {
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

function incomplete(name: string, cause?: typeof wrongLength): PoproomError {
  const message = `The connection was lost before "${printable(name)}" was complete; try again.`;
  return new PoproomError('UNAVAILABLE', message, { cause });
}

/** Of a complete response with more or fewer bytes than the file: there is nothing to continue. */
const wrongLength = 'wrong length';

export const isTemporary = (error: unknown) =>
  error instanceof PoproomError && error.cause !== wrongLength && temporaryFailures.includes(error.code);

/**
 * The record of a sent folder: modification times, executable files and empty folders, which a room does not keep.
 * `poproom send -r` sends it as a small file of the folder, and `poproom fetch` applies it instead of saving it.
 */
export const recordName = '.poproom-folder.json';

/** Paths are relative to the folder, with `/` between names. */
interface FolderRecord {
  /** Seconds since 1970. */
  modified: Readonly<Record<string, number>>;
  executable: readonly string[];
  /** Folders without files. */
  empty: readonly string[];
}

/** A folder of 100 files needs about 10 kB. */
const maxRecordBytes = 1024 * 1024;
const maxEmptyFolders = 1000;
/** The year 2100. Some file systems store no later times. */
const latestSeconds = 4_102_444_800;

/** The path is relative to the folder. */
export type RecordedFile = { path: string; stats: Pick<Stats, 'mtimeMs' | 'mode'> };

export function createRecord(files: readonly RecordedFile[], empty: readonly string[]): string {
  const record: FolderRecord = {
    modified: Object.fromEntries(files.map(({ path, stats }) => [path, Math.floor(stats.mtimeMs) / 1000])),
    executable: files.filter(({ stats }) => (stats.mode & 0o100) !== 0).map(({ path }) => path),
    empty: empty.slice(0, maxEmptyFolders),
  };
  return `${JSON.stringify(record)}\n`;
}

const isRecord = ({ fileName, folder, fileSize, once }: FileEntry): boolean =>
  fileName === recordName && folder !== undefined && fileSize <= maxRecordBytes && !once;

/** A record that is malformed or cannot be read is ignored: it comes from other people. */
export async function readRecords(room: Room, files: readonly FileEntry[], signal: AbortSignal) {
  const records = new Map<string, FolderRecord>();
  for (const file of files.filter(isRecord)) {
    const { folder = '' } = file;
    const record = await readRecord(room, file, signal);
    if (record) records.set(folder, merged(records.get(folder), record));
  }
  return {
    /** Whether the file is one of these records. */
    has: (file: FileEntry): boolean => isRecord(file) && records.has(file.folder ?? ''),

    /** The empty folders of all records, as files that are in them, so that they get local paths as files do. */
    emptyFolders: [...records].flatMap(([folder, { empty }]) =>
      empty.map((path): NamedFile => ({ folder: `${folder}/${path}`, fileName: 'x' })),
    ),

    /** Sets what a record says of a file that was saved. A disk that does not support it keeps its own values. */
    async apply(file: FileEntry, path: string): Promise<void> {
      const inRoom = pathInRoom(file);
      for (const [folder, { modified, executable }] of records) {
        if (!inRoom.startsWith(`${folder}/`)) continue;
        const own = inRoom.slice(folder.length + 1);
        if (executable.includes(own)) await makeExecutable(path).catch(() => undefined);
        const time = Object.hasOwn(modified, own) ? modified[own] : undefined;
        if (time !== undefined) await utimes(path, new Date(), time).catch(() => undefined);
      }
    },
  };
}

/** The same folder may have been sent twice. */
const merged = (earlier: FolderRecord | undefined, { modified, executable, empty }: FolderRecord): FolderRecord => ({
  modified: { ...earlier?.modified, ...modified },
  executable: [...(earlier?.executable ?? []), ...executable],
  empty: [...(earlier?.empty ?? []), ...empty],
});

async function readRecord(room: Room, file: FileEntry, signal: AbortSignal): Promise<FolderRecord | undefined> {
  try {
    const { body } = await room.download(file, { signal });
    const bytes = await firstBytes(body ?? [], maxRecordBytes);
    return bytes.length > maxRecordBytes ? undefined : parseRecord(bytes.toString());
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function parseRecord(json: string): FolderRecord {
  const { modified, executable, empty } = JSON.parse(json) as Partial<Record<keyof FolderRecord, unknown>>;
  const times = Object.entries(modified as object).filter(([, time]) => isTime(time));
  return { modified: Object.fromEntries(times), executable: texts(executable), empty: texts(empty) };
}

const isTime = (time: unknown): time is number => typeof time === 'number' && time >= 0 && time < latestSeconds;

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string').slice(0, maxEmptyFolders) : [];

/** For those who can read the file. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o777) | ((mode & 0o444) >> 2));
}
