/** Opens the files to upload: checks that they fit into the room, and finds uploads that were interrupted. */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { PoproomError, type Room, type RoomInfo } from '../../client/index.ts';
import type { Environment } from '../environment.ts';
import { countOf, formatBytes, printable } from '../output.ts';
import { readIfExists, writePrivateFile } from '../preferences.ts';
import { recordName } from './folder-record.ts';
import { pathInRoom } from './room-files.ts';
import { openInput, type UploadInput } from './upload-inputs.ts';

export interface Upload extends UploadInput {
  /** Shown to the user. */
  name: string;
  /** Undefined for standard input and pipes, which cannot be read again. */
  key: string | undefined;
  /** The id of an earlier upload of the same file, if there is one. */
  uploadId: string | undefined;
  bytes: Blob;
}

type Candidate = Omit<Upload, 'bytes'>;

/** Larger files are checked first, because a rejection by the server would come late. */
const checkedFrom = 5 * 1024 * 1024;

export async function openUploads(
  room: Room,
  inputs: readonly UploadInput[],
  unfinished: UnfinishedUploads,
  signal: AbortSignal,
): Promise<readonly Upload[]> {
  let candidates = toCandidates(room, inputs, unfinished);
  const space = mustCheck(candidates) ? await readRoomSpace(room, signal) : undefined;
  for (const each of candidates) space?.checkFile(each.name, knownSize(each));
  try {
    await space?.checkRoom(candidates.map(knownSize));
  } catch (error) {
    candidates = withoutRecords(candidates, error);
    await space?.checkRoom(candidates.map(knownSize));
  }
  const opened: Upload[] = [];
  for (const each of candidates) {
    const check = (bytes: number) => space?.checkFile(each.name, bytes);
    opened.push({ ...each, bytes: await openInput(each, { signal, check }) });
  }
  if (candidates.some(hasUnknownSize)) await space?.checkRoom(opened.map(({ bytes }) => bytes.size));
  return opened;
}

/** A room that has space for the files, but not for the record of their folder, gets only the files. */
function withoutRecords(candidates: Candidate[], error: unknown): Candidate[] {
  const files = candidates.filter(({ fileName }) => fileName !== recordName);
  if (files.length === candidates.length) throw error;
  return files;
}

function toCandidates(room: Room, inputs: readonly UploadInput[], unfinished: UnfinishedUploads): Candidate[] {
  const counts = new Map<string, number>();
  return inputs.map((input) => {
    // The same file may be given twice.
    const count = (counts.get(input.path) ?? 0) + 1;
    counts.set(input.path, count);
    const key = keyOf(room, input, count);
    return { ...input, name: pathInRoom(input), key, uploadId: key && unfinished.find(key) };
  });
}

/** Equal if the same command would upload the same file. The link of an encrypted room contains its key, which is secret. */
function keyOf(room: Room, input: UploadInput, count: number): string | undefined {
  const { path, fileName, folder, type, version, once } = input;
  if (!version) return undefined;
  const file = [resolve(path), version.size, version.mtimeMs, version.ctimeMs, fileName, folder, type];
  return uploadKey([room.link, ...file, count, ...(once ? ['once'] : [])]);
}

/** Equal if the same command would send the same files to a new room. Undefined if some cannot be read again. */
export function keyOfCommand(server: string, inputs: readonly UploadInput[]): string | undefined {
  const files = inputs.filter(({ fileName }) => fileName !== recordName);
  if (files.some(({ version }) => version === undefined)) return undefined;
  const facts = files.flatMap(({ path, fileName, folder, type, version, once }) => [
    ...[resolve(path), version?.size, version?.mtimeMs, version?.ctimeMs, fileName, folder, type, String(once)],
  ]);
  return uploadKey(['new room', server, ...facts]);
}

/** With an earlier upload, this also finds out whether the room requires a PIN: the SDK's first request cannot. */
const mustCheck = (candidates: readonly Candidate[]) =>
  candidates.length > 1 ||
  candidates.some((each) => hasUnknownSize(each) || (each.version?.size ?? 0) > checkedFrom || each.uploadId);

const hasUnknownSize = ({ version, content }: Candidate) => version === undefined && content === undefined;

const knownSize = ({ version, content }: Candidate) => version?.size ?? content?.size ?? 0;

type Limits = RoomInfo['limits'];

interface RoomSpace {
  /** Throws if a file of this size is too large. */
  checkFile(name: string, size: number): void;
  /** Throws if files of these sizes do not fit into the room. */
  checkRoom(sizes: readonly number[]): Promise<void>;
}

async function readRoomSpace(room: Room, signal: AbortSignal): Promise<RoomSpace> {
  const { limits, fileCount, fileBytes, role } = (await room.info({ signal })) as Partial<RoomInfo>;
  if (role === 'read') throw new PoproomError('READ_ONLY', 'This link may only read the room.');
  // An older server does not state its limits, and rejects a file that exceeds them.
  if (!limits) return { checkFile() {}, async checkRoom() {} };
  return {
    checkFile(name, size) {
      if (size > limits.fileBytes) throw tooLarge(name, limits);
    },

    async checkRoom(sizes) {
      const needed = { count: sizes.length, bytes: sumOf(sizes) };
      if (!reasonFull({ count: fileCount ?? 0, bytes: fileBytes ?? 0 }, needed, limits)) return;
      // The server makes room by erasing removed files, and may have a part of these files already: only the files that
      // it lists are certain. The holder of a drop link does not see them.
      const listed = role === 'drop' ? [] : await room.files({ signal });
      const used = { count: listed.length, bytes: sumOf(listed.map(({ fileSize }) => fileSize)) };
      const reason = reasonFull(used, needed, limits);
      if (reason) throw new PoproomError('ROOM_FULL', reason);
    },
  };
}

const tooLarge = (name: string, { fileBytes }: Limits) =>
  new PoproomError(
    'FILE_TOO_LARGE',
    `${printable(name)} is too large: this server accepts files of up to ${formatBytes(fileBytes)}.`,
  );

interface Amount {
  count: number;
  bytes: number;
}

function reasonFull(used: Amount, needed: Amount, limits: Limits): string | undefined {
  const [filesLeft, bytesLeft] = [limits.filesPerRoom - used.count, limits.fileBytesPerRoom - used.bytes];
  if (needed.count > filesLeft)
    return `The room has space for ${countOf(Math.max(0, filesLeft), 'more file')}, but you are sending ${needed.count}.`;
  if (needed.bytes > bytesLeft)
    return `The room has ${formatBytes(Math.max(0, bytesLeft))} left, but you are sending ${formatBytes(needed.bytes)}.`;
  return undefined;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** Servers keep an unfinished upload for as long. */
const maxAgeMs = 24 * 60 * 60 * 1000;
const maxEntries = 100;

export interface UnfinishedUploads {
  /** Returns the id of the upload. That of an encrypted room contains the salt of the file, in sealed form. */
  find(key: string): string | undefined;
  remember(key: string, uploadId: string): void;
  forget(keys: readonly string[]): void;
}

/** The key of an upload: equal values have the same key. It does not reveal them if one of them is secret. */
const uploadKey = (values: readonly (string | number | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex');

interface Entry {
  uploadId: string;
  /** Milliseconds since 1970. */
  at: number;
}

export function openUnfinishedUploads({ stateFolder }: Environment): UnfinishedUploads {
  const path = join(stateFolder, 'uploads.json');

  /** Reads the file each time, because other commands may change it. */
  function change(edit: (entries: Map<string, Entry>) => void): void {
    const entries = readEntries(path);
    edit(entries);
    write([...entries].slice(-maxEntries));
  }

  /** Failures are ignored: without the file, an upload starts again. */
  function write(entries: readonly (readonly [string, Entry])[]): void {
    try {
      writePrivateFile(path, `${JSON.stringify(Object.fromEntries(entries))}\n`);
    } catch {}
  }

  return {
    find: (key) => readEntries(path).get(key)?.uploadId,
    remember(key, uploadId) {
      change((entries) => {
        // Removed first, because the newest entries are last.
        entries.delete(key);
        entries.set(key, { uploadId, at: Date.now() });
      });
    },
    forget(keys) {
      const known = readEntries(path);
      if (!keys.some((key) => known.has(key))) return;
      change((entries) => {
        for (const key of keys) entries.delete(key);
      });
    },
  };
}

/** Without old and malformed entries. */
function readEntries(path: string): Map<string, Entry> {
  try {
    const entries = Object.entries(JSON.parse(readIfExists(path) ?? '{}') as Record<string, Entry>);
    return new Map(entries.filter(([, entry]) => isCurrent(entry)));
  } catch {
    return new Map();
  }
}

function isCurrent({ uploadId, at }: Entry): boolean {
  const age = Date.now() - at;
  return /^([0-9a-f]{32}(\.[\w.-]{1,4096})?|[0-9A-Z]{6,12})$/.test(uploadId) && age >= 0 && age < maxAgeMs;
}
