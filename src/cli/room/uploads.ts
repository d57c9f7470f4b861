/** The files to upload: finds all of them, checks that they fit into the room and opens them before the first one is sent. */
import { constants, createReadStream, type Dirent, type Stats } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { PoproomError, type Room, type RoomInfo } from '../../client/index.ts';
import type { Input } from '../command.ts';
import type { Environment } from '../environment.ts';
import { FileError, UsageError, withFileErrors } from '../errors.ts';
import { countOf, formatBytes, printable } from '../output.ts';
import { hashOf, openUnfinished } from '../preferences.ts';
import { createRecord, type RecordedFile, recordName } from './folder-record.ts';
import { createTar, type FileVersion, LocalFile, type SpoolOptions, spool, type TarMember } from './local-file.ts';
import { pathInRoom } from './room-files.ts';

interface UploadInput {
  /** `-` is standard input. */
  path: string;
  fileName: string;
  /** The path of its folder in the room. */
  folder: string | undefined;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  once: boolean;
  /** Of a local file, which can be read again. */
  version?: FileVersion | undefined;
  /** Undefined for standard input and pipes, which have no size. */
  content: Blob | undefined;
}

export type UploadInputs = readonly UploadInput[];

export async function findUploadInputs(input: Input, paths: readonly string[]): Promise<UploadInputs> {
  const note = readNote(input, paths);
  const files = note && paths.length === 0 ? [] : await findFiles(input, paths);
  return note ? [...files, note] : files;
}

/** A note becomes a text file. The option `--name` is for the file that is sent with it, if there is one. */
function readNote(input: Input, paths: readonly string[]): UploadInput | undefined {
  const text = input.value('note');
  if (text === undefined) return undefined;
  if (text.trim() === '') throw new UsageError('--note must not be empty.');
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const named = paths.length === 0 ? input.value('name') : undefined;
  const fileName = named ?? `note-${date}-${time.replaceAll(':', '')}.txt`;
  const content = new Blob([text], { type: 'text/plain' });
  const once = input.isSet('once');
  return { path: fileName, fileName, folder: undefined, type: 'text/plain', once, content };
}

async function findFiles(input: Input, paths: readonly string[]): Promise<UploadInputs> {
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1 && !input.isSet('tar'))
    throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  if (input.isSet('tar')) return [await findTar(input, paths)];
  const found: FoundFile[] = [];
  for (const path of paths) found.push(...(await find(path, input)));
  // Only the records of folders.
  if (found.every(({ version, content }) => content && !version))
    throw new FileError(`There are no files in ${paths.join(', ')}.`);
  const { lookup } = await import('mrmime');
  return found.map((file) => {
    const fileName = name ?? basename(file.path);
    return { ...file, fileName, type: type ?? lookup(fileName), once: input.isSet('once') };
  });
}

async function findTar(input: Input, paths: readonly string[]): Promise<UploadInput> {
  if (paths.includes('-')) throw new UsageError('--tar takes files and folders, not standard input.');
  const members = (await Promise.all(paths.map(findMembers))).flat();
  const [first = ''] = paths;
  const fileName = input.value('name') ?? `${paths.length === 1 ? basename(resolve(first)) || 'files' : 'files'}.tar`;
  const content = createTar(members);
  const latest = (time: 'mtimeMs' | 'ctimeMs') => members.reduce((most, { stats }) => Math.max(most, stats[time]), 0);
  const version = { size: content.size, mtimeMs: latest('mtimeMs'), ctimeMs: latest('ctimeMs') };
  const type = input.value('type') ?? 'application/x-tar';
  return { path: first, folder: undefined, version, content, fileName, type, once: input.isSet('once') };
}

async function findMembers(path: string): Promise<TarMember[]> {
  const top = basename(resolve(path));
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) {
    await findFile(path, undefined, stats);
    if (!stats.isFile()) throw new FileError(`${path} is not a regular file.`);
    return [{ name: top, path, stats }];
  }
  const { files, empty } = await listFolder(path, top);
  const inside = (inRoom: string) => join(path, inRoom.slice(top.length + 1));
  const folders = new Set([...files.map(({ folder }) => folder), ...empty]);
  const named = [
    ...[...folders].map((folder) => ({ name: `${folder}/`, path: inside(folder) })),
    ...files.map(({ path, folder }) => ({ name: folder ? `${folder}/${basename(path)}` : basename(path), path })),
  ];
  const members: TarMember[] = [];
  for (const { name, path } of named.filter(({ name }) => name !== '/')) {
    const found = await withFileErrors(path, () => stat(path));
    if (!name.endsWith('/')) await findFile(path, undefined, found);
    members.push({ name, path, stats: found });
  }
  return members;
}

/** Reads standard input and pipes to their end. `check` is called with the bytes that they have so far. */
async function openInput({ path, content }: UploadInput, options: SpoolOptions): Promise<Blob> {
  if (content) return content;
  if (path === '-') return spool(process.stdin, options);
  return withFileErrors(path, () => spool(createReadStream(path), options));
}

type FoundFile = Pick<UploadInput, 'path' | 'folder' | 'version' | 'content'>;

async function find(path: string, input: Input): Promise<FoundFile[]> {
  if (path === '-') return [{ path, folder: undefined, content: undefined }];
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) return [await findFile(path, undefined, stats)];
  if (!input.isSet('recursive')) throw new UsageError(`${path} is a folder; add -r to send the files in it.`);
  if (input.value('name') !== undefined) throw new UsageError('--name cannot be used with a folder.');
  const name = basename(resolve(path));
  const { files, empty } = await listFolder(path, name);
  const found: FoundFile[] = [];
  const recorded: RecordedFile[] = [];
  const below = (inRoom: string) => inRoom.slice(name === '' ? 0 : name.length + 1);
  for (const { path, folder } of files) {
    const stats = await withFileErrors(path, () => stat(path));
    found.push(await findFile(path, folder, stats));
    recorded.push({ path: below(`${folder}/${basename(path)}`), stats });
  }
  // The names of one-time files must not stay in the room.
  if (input.isSet('once') || name === '') return found;
  const content = new Blob([createRecord(recorded, empty.map(below).filter(Boolean))]);
  return [...found, { path: join(path, recordName), folder: name, content }];
}

/** A pipe, such as that of `<(…)`, has no size. */
async function findFile(path: string, folder: string | undefined, stats: Stats): Promise<FoundFile> {
  await withFileErrors(path, () => access(path, constants.R_OK));
  const { size, mtimeMs, ctimeMs } = stats;
  const version = stats.isFile() ? { size, mtimeMs, ctimeMs } : undefined;
  return { path, folder, version, content: version && new LocalFile(path, version) };
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}

/** Sorted by path. The folders are those in the room, which begin with the name of the listed one; also empty ones. */
async function listFolder(path: string, folder: string) {
  const entries = await withFileErrors(path, () => readdir(path, { withFileTypes: true }));
  const found = { files: [] as { path: string; folder: string }[], empty: entries.length === 0 ? [folder] : [] };
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const entryPath = join(path, entry.name);
    if (entry.isDirectory()) {
      const below = await listFolder(entryPath, folder ? `${folder}/${entry.name}` : entry.name);
      found.files.push(...below.files);
      found.empty.push(...below.empty);
    } else if (entry.isFile() && entry.name !== recordName) found.files.push({ path: entryPath, folder });
    else if (!entry.isFile()) console.error(`Skipped ${printable(entryPath)}: ${reasonToSkip(entry)}.`);
  }
  return found;
}

/** A symbolic link could lead to files that the user did not mean to send. */
const reasonToSkip = (entry: Dirent) =>
  entry.isSymbolicLink() ? 'symbolic links are not followed' : 'it is not a regular file';

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

export async function openUploads(room: Room, inputs: UploadInputs, earlier: UnfinishedUploads, signal: AbortSignal) {
  let candidates = toCandidates(room, inputs, earlier);
  const space = mustCheck(candidates) ? await readRoomSpace(room, signal) : undefined;
  for (const each of candidates) space?.checkFile(each.name, knownSize(each));
  try {
    await space?.checkRoom(candidates.map(knownSize));
  } catch (error) {
    // A room that has space for the files, but not for the record of their folder, gets only the files.
    const files = candidates.filter(({ fileName }) => fileName !== recordName);
    if (files.length === candidates.length) throw error;
    candidates = files;
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

function toCandidates(room: Room, inputs: UploadInputs, earlier: UnfinishedUploads): Candidate[] {
  const counts = new Map<string, number>();
  return inputs.map((input) => {
    // The same file may be given twice.
    const count = (counts.get(input.path) ?? 0) + 1;
    counts.set(input.path, count);
    const key = keyOf(room, input, count);
    return { ...input, name: pathInRoom(input), key, uploadId: key && earlier.find(key)?.uploadId };
  });
}

/** Equal if the same command would upload the same file. The link of an encrypted room contains its key, which is secret. */
function keyOf(room: Room, input: UploadInput, count: number): string | undefined {
  if (!input.version) return undefined;
  return hashOf([room.link, ...factsOf(input), count, ...(input.once ? ['once'] : [])]);
}

function factsOf({ path, fileName, folder, type, version }: UploadInput) {
  return [resolve(path), version?.size, version?.mtimeMs, version?.ctimeMs, fileName, folder, type];
}

/** Equal if the same command would send the same files to a new room. Undefined if some cannot be read again. */
export function keyOfCommand(server: string, inputs: UploadInputs): string | undefined {
  const files = inputs.filter(({ fileName }) => fileName !== recordName);
  if (files.some(({ version }) => version === undefined)) return undefined;
  return hashOf(['new room', server, ...files.flatMap((file) => [...factsOf(file), String(file.once)])]);
}

/** With an earlier upload, this also finds out whether the room requires a PIN: the SDK's first request cannot. */
const mustCheck = (candidates: readonly Candidate[]) =>
  candidates.length > 1 ||
  candidates.some((each) => hasUnknownSize(each) || (each.version?.size ?? 0) > checkedFrom || each.uploadId);

const hasUnknownSize = ({ content }: Candidate) => content === undefined;

const knownSize = ({ content }: Candidate) => content?.size ?? 0;

/** Undefined for an older server, which does not state its limits, and rejects a file that exceeds them. */
async function readRoomSpace(room: Room, signal: AbortSignal) {
  const { limits, fileCount, fileBytes, role } = (await room.info({ signal })) as Partial<RoomInfo>;
  if (role === 'read') throw new PoproomError('READ_ONLY', 'This link may only read the room.');
  if (!limits) return undefined;
  return {
    checkFile(name: string, size: number) {
      if (size <= limits.fileBytes) return;
      const most = formatBytes(limits.fileBytes);
      const message = `${printable(name)} is too large: this server accepts files of up to ${most}.`;
      throw new PoproomError('FILE_TOO_LARGE', message);
    },

    async checkRoom(sizes: readonly number[]) {
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

type Amount = Record<'count' | 'bytes', number>;

function reasonFull(used: Amount, needed: Amount, limits: RoomInfo['limits']): string | undefined {
  const [filesLeft, bytesLeft] = [limits.filesPerRoom - used.count, limits.fileBytesPerRoom - used.bytes];
  if (needed.count > filesLeft)
    return `The room has space for ${countOf(Math.max(0, filesLeft), 'more file')}, but you are sending ${needed.count}.`;
  if (needed.bytes > bytesLeft)
    return `The room has ${formatBytes(Math.max(0, bytesLeft))} left, but you are sending ${formatBytes(needed.bytes)}.`;
  return undefined;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

const maxUnfinished = 100;
const idPattern = /^([0-9a-f]{32}(\.[\w.-]{1,4096})?|[0-9A-Z]{6,12})$/;

export type UnfinishedUploads = ReturnType<typeof openUnfinishedUploads>;

/** The id of an upload to an encrypted room contains the salt of the file, in sealed form. */
export function openUnfinishedUploads({ stateFolder }: Environment) {
  const isValid = ({ uploadId }: { uploadId: string }) => idPattern.test(uploadId);
  return openUnfinished(join(stateFolder, 'uploads.json'), maxUnfinished, isValid);
}
