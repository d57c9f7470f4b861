/** Finds and opens all files to upload, before the first one is sent. */
import { constants, createReadStream, type Dirent, type Stats } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Input } from '../command.ts';
import { FileError, UsageError, withFileErrors } from '../errors.ts';
import { printable } from '../output.ts';
import { createRecord, type RecordedFile, recordName } from './folder-record.ts';
import { type FileVersion, LocalFile, spool } from './local-file.ts';
import type { TarMember } from './tar-archive.ts';

export interface UploadInput {
  /** `-` is standard input. */
  path: string;
  /** The name in the room. */
  fileName: string;
  /** The path of its folder in the room. */
  folder: string | undefined;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  /** Whether it becomes a one-time file. */
  once: boolean;
  /** Undefined for standard input and pipes, which have no size. */
  version: FileVersion | undefined;
  /** The bytes, if they are not those of a local file. */
  content?: Blob;
}

export async function findUploadInputs(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const note = readNote(input, paths);
  if (note && paths.length === 0) return [note];
  return [...(await findFiles(input, paths)), ...(note ? [note] : [])];
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
  return { path: fileName, fileName, folder: undefined, type: 'text/plain', once, version: undefined, content };
}

async function findFiles(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1 && !input.isSet('tar'))
    throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  if (input.isSet('tar')) return [await findTar(input, paths)];
  const found: FoundFile[] = [];
  for (const path of paths) found.push(...(await find(path, input)));
  if (!found.some(({ content }) => content === undefined))
    throw new FileError(`There are no files in ${paths.join(', ')}.`);
  const { lookup } = await import('mrmime');
  return found.map((file) => {
    const fileName = name ?? basename(file.path);
    return { ...file, fileName, type: type ?? lookup(fileName), once: input.isSet('once') };
  });
}

/** All files and folders as one archive. */
async function findTar(input: Input, paths: readonly string[]): Promise<UploadInput> {
  if (paths.includes('-')) throw new UsageError('--tar takes files and folders, not standard input.');
  const members = (await Promise.all(paths.map(findMembers))).flat();
  const [first = ''] = paths;
  const fileName = input.value('name') ?? `${paths.length === 1 ? basename(resolve(first)) || 'files' : 'files'}.tar`;
  const { createTar } = await import('./tar-archive.ts');
  const content = createTar(members);
  const latest = (times: readonly number[]) => times.reduce((most, time) => Math.max(most, time), 0);
  const version = {
    size: content.size,
    mtimeMs: latest(members.map(({ stats }) => stats.mtimeMs)),
    ctimeMs: latest(members.map(({ stats }) => stats.ctimeMs)),
  };
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
export async function openInput(
  { path, version, content }: UploadInput,
  options: { signal: AbortSignal; check(bytes: number): void },
): Promise<Blob> {
  if (content) return content;
  if (version) return new LocalFile(path, version);
  if (path === '-') return spool(process.stdin, options);
  return withFileErrors(path, () => spool(createReadStream(path), options));
}

type FoundFile = Pick<UploadInput, 'path' | 'folder' | 'version' | 'content'>;

async function find(path: string, input: Input): Promise<FoundFile[]> {
  if (path === '-') return [{ path, folder: undefined, version: undefined }];
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
  return [...found, { path: join(path, recordName), folder: name, version: undefined, content }];
}

/** A pipe, such as that of `<(…)`, has no size. */
async function findFile(path: string, folder: string | undefined, stats: Stats): Promise<FoundFile> {
  await withFileErrors(path, () => access(path, constants.R_OK));
  const { size, mtimeMs, ctimeMs } = stats;
  return { path, folder, version: stats.isFile() ? { size, mtimeMs, ctimeMs } : undefined };
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}

interface FolderContents {
  /** Sorted by path. `folder` is the path of its folder in the room, which begins with the name of the listed folder. */
  files: { path: string; folder: string }[];
  /** The paths of empty folders in the room. */
  empty: string[];
}

async function listFolder(path: string, folder: string): Promise<FolderContents> {
  const entries = await withFileErrors(path, () => readdir(path, { withFileTypes: true }));
  const found: FolderContents = { files: [], empty: entries.length === 0 ? [folder] : [] };
  for (const entry of entries.sort(byName)) {
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

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1);

/** A symbolic link could lead to files that the user did not mean to send. */
const reasonToSkip = (entry: Dirent) =>
  entry.isSymbolicLink() ? 'symbolic links are not followed' : 'it is not a regular file';
