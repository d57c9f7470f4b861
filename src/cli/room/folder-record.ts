/**
 * The record of a sent folder: modification times, executable files and empty folders, which a room does not keep.
 * `poproom send -r` sends it as a small file of the folder, and `poproom fetch` applies it instead of saving it.
 */
import type { Stats } from 'node:fs';
import { chmod, stat, utimes } from 'node:fs/promises';
import type { FileEntry, Room } from '../../client/index.ts';
import { firstBytes } from '../prompt.ts';
import { pathInRoom } from './room-files.ts';

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
const maxBytes = 1024 * 1024;
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

export const isRecord = ({ fileName, folder, fileSize, once }: FileEntry): boolean =>
  fileName === recordName && folder !== undefined && fileSize <= maxBytes && !once;

export type FolderRecords = ReadonlyMap<string, FolderRecord>;

/** A record that is malformed or cannot be read is ignored: it comes from other people. */
export async function readRecords(room: Room, files: readonly FileEntry[], signal: AbortSignal) {
  const records = new Map<string, FolderRecord>();
  for (const file of files.filter(isRecord)) {
    const { folder = '' } = file;
    const record = await readRecord(room, file, signal);
    if (record) records.set(folder, merged(records.get(folder), record));
  }
  return records;
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
    const bytes = await firstBytes(body ?? [], maxBytes);
    return bytes.length > maxBytes ? undefined : parseRecord(bytes.toString());
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

/** Sets what the record says of a file that was saved. A disk that does not support it keeps its own values. */
export async function applyRecord(records: FolderRecords, file: FileEntry, path: string): Promise<void> {
  const inRoom = pathInRoom(file);
  for (const [folder, { modified, executable }] of records) {
    if (!inRoom.startsWith(`${folder}/`)) continue;
    const own = inRoom.slice(folder.length + 1);
    if (executable.includes(own)) await makeExecutable(path).catch(() => undefined);
    const time = Object.hasOwn(modified, own) ? modified[own] : undefined;
    if (time !== undefined) await utimes(path, new Date(), time).catch(() => undefined);
  }
}

/** For those who can read the file. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o777) | ((mode & 0o444) >> 2));
}

/** The empty folders of all records, as files that are in them, so that they get local paths as files do. */
export const emptyFolders = (records: FolderRecords): { folder: string; fileName: string }[] =>
  [...records].flatMap(([folder, { empty }]) => empty.map((path) => ({ folder: `${folder}/${path}`, fileName: 'x' })));
