/** `poproom fetch`: downloads files. */
import { lstat, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type FileEntry, PoproomError, parseLinkId, type Room } from '../../client/index.ts';
import { type LocalPath, localPaths, type NamesIn, pathsWithoutFolders } from '../../core/files/local-name.ts';
import { dropEnvelopePrefix } from '../../protocol/sealed.ts';
import { formatColumns, type Input } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { UsageError, untilInterrupted } from '../errors.ts';
import {
  countOf,
  print,
  printable,
  printableText,
  printList,
  printNotice,
  runSequentially,
  writeStdout,
} from '../output.ts';
import { hashOf, openUnfinished } from '../preferences.ts';
import { withRoom } from '../server-context.ts';
import {
  atomicWrite,
  type Destination,
  destinations,
  durably,
  exists,
  foldersIn,
  isFolder,
  publishFor,
  type Resumable,
  readExistingChoice,
  resumableWrite,
  withFolders,
  withoutExisting,
} from './destination.ts';
import {
  type Consume,
  consumeResponse,
  download,
  findFile,
  formatSize,
  isTemporary,
  type NamedFile,
  pathInRoom,
  readRecords,
} from './room-files.ts';

export async function fetchFiles(input: Input): Promise<void> {
  const [, name, extra] = input.args;
  const output = input.value('output');
  if (extra !== undefined) throw new UsageError('Name one file, or none to download all of them.');
  if (output === '') throw new UsageError('--output needs a folder, a path, or - for standard output.');
  if (output === '-' && input.isSet('json'))
    throw new UsageError('Use either --output - or --json: both write to standard output.');
  readExistingChoice(input);
  const isZip = input.isSet('zip');
  if (isZip) assertZip(input);
  await withRoom(input, async (room) => {
    if (isZip) return untilInterrupted((signal) => fetchZip({ input, room, signal }));
    const all = withoutSealed(await room.files(), room);
    const found = name === undefined ? all : [findFile(all, name)];
    if (input.isSet('list')) return list(input, found);
    if (all.length === 0) printNotice('There are no files in this room.');
    const receivesOnce = name !== undefined || input.isSet('once');
    const files = receivesOnce ? found : found.filter(({ once }) => !once);
    if (files.length < found.length) printLeft(found.filter(({ once }) => once));
    if (output === '-' && files.length === 0 && found.length > 0)
      throw new UsageError('Name the one-time file to write to standard output, or add --once.');
    return untilInterrupted((signal) => (output === '-' ? toStandardOutput : toDisk)(files, { input, room, signal }));
  });
}

/** Files that were dropped into an encrypted room are sealed for its members, so readers cannot open them. */
function withoutSealed(files: readonly FileEntry[], room: Room): readonly FileEntry[] {
  if (!parseLinkId(room.code)) return files;
  const opened = files.filter(({ meta }) => !meta?.startsWith(dropEnvelopePrefix));
  const sealed = files.length - opened.length;
  if (sealed > 0) console.error(`Left out ${countOf(sealed, 'file')} that only members of the room can open.`);
  return opened;
}

/** Receiving a one-time file erases it, so it must be deliberate. */
function printLeft(files: readonly FileEntry[]): void {
  const names = files.map((file) => `"${printable(pathInRoom(file))}"`).join(', ');
  console.error(`Not received, because each can be received only once: ${names}. Name one, or add --once.`);
}

function list(input: Input, files: readonly FileEntry[]): void {
  const rows = files.map((file) => [printable(pathInRoom(file)), formatSize(file)] as const);
  printList(input, files, formatColumns(rows), 'There are no files in this room.');
}

type Fetching = { input: Input; room: Room; signal: AbortSignal };

const outputOf = (input: Input) => input.value('output') ?? '.';

async function toDisk(files: readonly FileEntry[], { input, room, signal }: Fetching): Promise<void> {
  const isNamed = input.args.length > 1;
  const choice = readExistingChoice(input);
  const output = outputOf(input);
  const records = await readRecords(room, isNamed ? [] : files, signal);
  const saved = files.filter((file) => !records.has(file));
  const inRoom = [...saved, ...records.emptyFolders];
  const fetches = openUnfinishedFetches(readEnvironment(), [room.link, resolve(output), ...input.args.slice(1)]);
  const namesIn = await namingFor(input, inRoom, fetches.folders);
  const paths = isNamed ? pathsWithoutFolders(saved, namesIn('')) : localPaths(inRoom, undefined, namesIn);
  const all = await destinations(saved, output, paths);
  const missing = await filterAsync(all, async (item) => !(await fetches.isDone(item)));
  const items = await withoutExisting(missing, choice);
  const tops = all.flatMap(({ folders }) => folders.slice(0, 1));
  fetches.start(tops.filter((folder) => namesIn(basename(folder)) === 'hidden'));
  await runSequentially(input, { items, verb: 'Fetched' }, async (item) => {
    const { file } = item;
    let { path } = item;
    const publish = publishFor(choice, (renamed) => {
      path = renamed;
    });
    const how = { signal, showsProgress: true };
    const resumable: Resumable = {
      key: keyOf(room, file),
      size: file.fileSize,
      isTemporary: (error) => signal.aborted || isTemporary(error),
      receive: (received, store) => download(room, file, { ...how, received }, store),
    };
    await withFolders(item.folders, () => {
      if (!file.once) return resumableWrite(item.path, resumable, publish);
      // Erased from the room afterwards.
      return download(room, file, how, (bytes) => atomicWrite(item.path, bytes, durably(publish)));
    });
    if (!file.once && items.length > 1) fetches.done(path, file.fileId);
    await records.apply(file, path);
    return { value: { ...file, path }, line: printable(path) };
  });
  fetches.end();
  if (records.emptyFolders.length > 0 && (await isFolder(output))) await makeFolders(output, paths.slice(saved.length));
  warnOfPrograms(items.map(({ path }) => path));
}

async function filterAsync<T>(items: Iterable<T>, isKept: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = [];
  for (const item of items) if (await isKept(item)) kept.push(item);
  return kept;
}

/** The part of a file must be that of the same room. The link of an encrypted room contains its key, which is secret. */
const keyOf = ({ link }: Room, { fileId, fileSize }: FileEntry) => hashOf([link, fileId, fileSize]).slice(0, 24);

/** `paths` are those of files in the folders. A folder that cannot be created is left out. */
async function makeFolders(output: string, paths: readonly LocalPath[]): Promise<void> {
  for (const path of paths) await withFolders(foldersIn(output, path), async () => {}).catch(() => undefined);
}

/** Shells, editors, git and other tools run these files when someone uses their folder. */
const automatic =
  /(^|[/\\])(\.git[/\\](hooks[/\\]|config$)|\.husky[/\\]|\.envrc$|\.(vscode|idea|devcontainer|claude|cursor)[/\\]|\.mcp\.json$|\.(npmrc|yarnrc|yarnrc\.yml|pnpmfile\.cjs)$|\.(bash|zsh|profile|tmux|vim|nvim|exrc|gdbinit|lldbinit|pdbrc|direnv))/;

function warnOfPrograms(paths: readonly string[]): void {
  const found = paths.filter((path) => automatic.test(path)).map(printable);
  if (found.length === 0) return;
  const named = found.slice(0, 10).join(', ') + (found.length > 10 ? ` and ${found.length - 10} more` : '');
  console.error(`Programs may run these files automatically; check them first: ${named}.`);
}

/**
 * A folder that is created by this command keeps hidden names: nothing can be overwritten in it, and no program uses it
 * yet. Elsewhere, a file such as .bashrc could be used by a program without anyone noticing.
 */
async function namingFor(
  input: Input,
  files: readonly NamedFile[],
  createdEarlier: readonly string[],
): Promise<NamesIn> {
  if (input.isSet('keep-names')) return () => 'kept';
  const tops = new Set(localPaths(files).flatMap(([top = '', ...rest]) => (rest.length > 0 ? [top] : [])));
  const isNewFolder = async (path: string) => createdEarlier.includes(resolve(path)) || !(await exists(path));
  const created = new Set(await filterAsync(tops, (top) => isNewFolder(join(outputOf(input), top))));
  return (top) => (created.has(top) ? 'hidden' : 'safe');
}

async function toStandardOutput(files: readonly FileEntry[], { room, signal }: Fetching): Promise<void> {
  const [file, ...others] = files;
  if (!file) throw new PoproomError('FILE_NOT_FOUND', 'There are no files in this room.');
  if (others.length > 0)
    throw new UsageError(`The room has ${files.length} files; name the one to write to standard output.`);
  const isTerminal = process.stdout.isTTY;
  // On a terminal, the progress bar would mix with the file.
  const options = { signal, showsProgress: !isTerminal };
  await download(room, file, options, (bytes) => writeStdout(isTerminal ? toPrintable(bytes) : bytes));
}

async function* toPrintable(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield Buffer.from(printableText(decoder.decode(chunk, { stream: true })));
}

function assertZip(input: Input): void {
  if (input.args.length > 1) throw new UsageError('--zip downloads all files; do not name one.');
  if (input.isSet('list')) throw new UsageError('Use either --zip or --list.');
  if (input.value('output') === '-' && process.stdout.isTTY)
    throw new UsageError('A zip archive cannot be shown on a terminal; use -o FILE, or redirect the output.');
}

/** `poproom fetch --zip`: downloads all files of a room as one zip archive. */
async function fetchZip(fetching: Fetching): Promise<void> {
  const { input, room } = fetching;
  const output = outputOf(input);
  if (output === '-') return downloadZip(fetching, writeStdout);
  const choice = readExistingChoice(input);
  const name = zipName(room);
  const [item] = await withoutExisting(await destinations([{ fileName: name }], output, [[name]]), choice);
  if (!item) return;
  let { path } = item;
  const publish = publishFor(choice, (renamed) => {
    path = renamed;
  });
  await withFolders(item.folders, () => downloadZip(fetching, (bytes) => atomicWrite(item.path, bytes, publish)));
  const { size } = await stat(path);
  print(input, { path, fileSize: size }, printable(path));
}

async function downloadZip({ room, signal }: Fetching, consume: Consume): Promise<void> {
  const response = await room.downloadZip({ signal });
  await consumeResponse(response, { name: zipName(room), size: announcedSize(response), showsProgress: true }, consume);
}

/** Without it, an incomplete or endless archive would not be noticed. */
function announcedSize({ headers }: Response): number {
  const length = headers.get('Content-Length');
  if (length !== null && !headers.has('Content-Encoding')) return Number(length);
  const message = 'The server or a proxy did not announce the size of the archive; download the files without --zip.';
  throw new PoproomError('INVALID_RESPONSE', message);
}

/** A link is secret, and a file name is not. */
const zipName = ({ code }: Room) => (parseLinkId(code) ? 'poproom.zip' : `poproom-${code}.zip`);

/** Hashes of file ids by path, because an id opens the file; and folders that were created. */
type Fetch = { folders: readonly string[]; files: Readonly<Record<string, string>> };

const maxFetches = 20;

/** Fetches of several files. `command` is the same for the same command. */
function openUnfinishedFetches({ stateFolder }: Environment, command: readonly string[]) {
  const fetches = openUnfinished(join(stateFolder, 'fetches.json'), maxFetches, isFetch);
  const key = hashOf(command);
  const earlier: Fetch = fetches.find(key) ?? { folders: [], files: {} };
  let current = earlier;

  function remember(more: Partial<Fetch>): void {
    current = { ...current, ...more };
    fetches.remember(key, current);
  }

  return {
    /** Those that an interrupted run has created. */
    folders: earlier.folders,
    async isDone({ path, file }: Destination<FileEntry>): Promise<boolean> {
      if (earlier.files[resolve(path)] !== hashOf([file.fileId])) return false;
      return (await lstat(path).catch(() => undefined))?.size === file.fileSize;
    },
    start(created: readonly string[]) {
      const folders = [...new Set([...current.folders, ...created.map((folder) => resolve(folder))])];
      if (folders.length > current.folders.length) remember({ folders });
    },
    done: (path: string, id: string) => remember({ files: { ...current.files, [resolve(path)]: hashOf([id]) } }),
    end: () => fetches.forget([key]),
  };
}

const isFetch = ({ folders, files }: Fetch): boolean =>
  Array.isArray(folders) && typeof files === 'object' && files !== null;
