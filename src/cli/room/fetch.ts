/** `poproom fetch`: downloads files. */
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type FileEntry, PoproomError, parseLinkId, type Room } from '../../client/index.ts';
import { type LocalPath, localPaths, type NamesIn, pathsWithoutFolders } from '../../core/files/local-name.ts';
import { dropEnvelopePrefix } from '../../protocol/sealed.ts';
import { formatColumns, type Input } from '../command.ts';
import { timeoutOf } from '../duration.ts';
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
  missingFolders,
  publishFor,
  type Resumable,
  readExistingChoice,
  resumableWrite,
  withFolders,
  withoutExisting,
} from './destination.ts';
import { applyRecord, emptyFolders, type FolderRecords, isRecord, readRecords } from './folder-record.ts';
import {
  type Consume,
  consumeResponse,
  continueDownload,
  download,
  findFile,
  formatSize,
  isTemporary,
  pathInRoom,
} from './room-files.ts';

export async function fetchFiles(input: Input): Promise<void> {
  const [, name, extra] = input.args;
  const output = input.value('output');
  if (extra !== undefined) throw new UsageError('Name one file, or none to download all of them.');
  if (output === '') throw new UsageError('--output needs a folder, a path, or - for standard output.');
  if (output === '-' && input.isSet('json'))
    throw new UsageError('Use either --output - or --json: both write to standard output.');
  readExistingChoice(input);
  if (input.isSet('zip')) return fetchZip(input);
  await withRoom(input, async (room) => {
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
  const records: FolderRecords = isNamed ? new Map() : await readRecords(room, files, signal);
  const saved = files.filter((file) => !(isRecord(file) && records.has(file.folder ?? '')));
  const empty = emptyFolders(records);
  const inRoom = [...saved, ...empty];
  const fetches = openUnfinishedFetches(readEnvironment(), [room.link, resolve(output), ...input.args.slice(1)]);
  const namesIn = await namingFor(input, inRoom, fetches.folders);
  const paths = isNamed ? pathsWithoutFolders(saved, namesIn('')) : localPaths(inRoom, undefined, namesIn);
  const all = await destinations(saved, output, paths);
  const items = await withoutExisting(await withoutFetched(all, fetches), choice);
  const tops = all.flatMap(({ folders }) => folders.slice(0, 1));
  fetches.start(tops.filter((folder) => namesIn(basename(folder)) === 'hidden'));
  const timeoutSeconds = timeoutOf(input);
  await runSequentially(input, { items, verb: 'Fetched' }, async (item) => {
    const { file } = item;
    let { path } = item;
    const publish = publishFor(choice, (renamed) => {
      path = renamed;
    });
    const how = { signal, showsProgress: true, timeoutSeconds };
    const resumable: Resumable = {
      key: keyOf(room, file),
      size: file.fileSize,
      isTemporary: (error) => signal.aborted || isTemporary(error),
      receive: (part, store) => continueDownload(room, file, part, how, store),
    };
    await withFolders(item.folders, () => {
      if (!file.once) return resumableWrite(item.path, resumable, publish);
      // Erased from the room afterwards.
      return download(room, file, how, (bytes) => atomicWrite(item.path, bytes, durably(publish)));
    });
    if (!file.once && items.length > 1) fetches.done(path, file.fileId);
    await applyRecord(records, file, path);
    return { value: { ...file, path }, line: printable(path) };
  });
  fetches.end();
  if (empty.length > 0 && (await isFolder(output))) await makeFolders(output, paths.slice(saved.length));
  warnOfPrograms(items.map(({ path }) => path));
}

/** Without the files that an interrupted run of the same command has fetched. */
async function withoutFetched(items: readonly Destination[], fetches: UnfinishedFetches): Promise<Destination[]> {
  const missing: Destination[] = [];
  for (const item of items) {
    const { fileId, fileSize } = item.file;
    const found = fetches.isDone(item.path, fileId) ? await lstat(item.path).catch(() => undefined) : undefined;
    if (found?.size !== fileSize) missing.push(item);
  }
  return missing;
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

type FilesInRoom = Parameters<typeof localPaths>[0];

/**
 * A folder that is created by this command keeps hidden names: nothing can be overwritten in it, and no program uses it
 * yet. Elsewhere, a file such as .bashrc could be used by a program without anyone noticing.
 */
async function namingFor(input: Input, files: FilesInRoom, createdEarlier: readonly string[]): Promise<NamesIn> {
  if (input.isSet('keep-names')) return () => 'kept';
  const tops = new Set(localPaths(files).flatMap(([top = '', ...rest]) => (rest.length > 0 ? [top] : [])));
  const isNewFolder = async (path: string) => createdEarlier.includes(resolve(path)) || !(await exists(path));
  const isNew = await Promise.all([...tops].map((top) => isNewFolder(join(outputOf(input), top))));
  const created = new Set([...tops].filter((_, i) => isNew[i]));
  return (top) => (created.has(top) ? 'hidden' : 'safe');
}

async function toStandardOutput(files: readonly FileEntry[], { input, room, signal }: Fetching): Promise<void> {
  const [file, ...others] = files;
  if (!file) throw new PoproomError('FILE_NOT_FOUND', 'There are no files in this room.');
  if (others.length > 0)
    throw new UsageError(`The room has ${files.length} files; name the one to write to standard output.`);
  const isTerminal = process.stdout.isTTY;
  // On a terminal, the progress bar would mix with the file.
  const options = { signal, showsProgress: !isTerminal, timeoutSeconds: timeoutOf(input) };
  await download(room, file, options, (bytes) => writeAll(isTerminal ? toPrintable(bytes) : bytes));
}

/** As text without control characters. */
async function* toPrintable(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield Buffer.from(printableText(decoder.decode(chunk, { stream: true })));
}

/** `poproom fetch --zip`: downloads all files of a room as one zip archive. */
async function fetchZip(input: Input): Promise<void> {
  const output = input.value('output');
  if (input.args.length > 1) throw new UsageError('--zip downloads all files; do not name one.');
  if (input.isSet('list')) throw new UsageError('Use either --zip or --list.');
  if (output === '-' && process.stdout.isTTY)
    throw new UsageError('A zip archive cannot be shown on a terminal; use -o FILE, or redirect the output.');
  await withRoom(input, (room) =>
    untilInterrupted(async (signal) => {
      const fetching = { input, room, signal };
      await (output === '-' ? downloadZip(fetching, writeAll) : zipToDisk(fetching));
    }),
  );
}

async function writeAll(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) await writeStdout(chunk);
}

async function zipToDisk(fetching: Fetching): Promise<void> {
  const { input, room } = fetching;
  const output = outputOf(input);
  const choice = readExistingChoice(input);
  let path = (await isFolder(output)) ? join(output, zipName(room)) : output;
  const [item] = await withoutExisting([{ path, folders: await missingFolders(dirname(path)) }], choice);
  if (!item) return;
  const publish = publishFor(choice, (renamed) => {
    path = renamed;
  });
  const isCreated = output.endsWith('/') || output.endsWith(sep);
  await withFolders(isCreated ? item.folders : [], () =>
    downloadZip(fetching, (bytes) => atomicWrite(item.path, bytes, publish)),
  );
  const { size } = await stat(path);
  print(input, { path, fileSize: size }, printable(path));
}

async function downloadZip({ input, room, signal }: Fetching, consume: Consume): Promise<void> {
  const response = await room.downloadZip({ signal });
  const incoming = { name: zipName(room), size: announcedSize(response), showsProgress: true };
  await consumeResponse(response, { ...incoming, timeoutSeconds: timeoutOf(input) }, consume);
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

type UnfinishedFetches = ReturnType<typeof openUnfinishedFetches>;

/** Hashes of file ids by path, because an id opens the file; and folders that were created. */
type Fetch = { folders: readonly string[]; files: Readonly<Record<string, string>> };

const maxFetches = 20;

/** Fetches of several files. `command` is the same for the same command. */
function openUnfinishedFetches({ stateFolder }: Environment, command: readonly string[]) {
  const fetches = openUnfinished(join(stateFolder, 'fetches.json'), maxFetches, isFetch);
  const key = hashOf(command);
  const earlier = fetches.find(key);
  let { folders, files }: Fetch = { folders: [], files: {}, ...earlier };

  return {
    /** Those that an interrupted run has created. */
    folders,
    isDone: (path: string, fileId: string) => earlier?.files[resolve(path)] === hashOf([fileId]),
    start(created: readonly string[]) {
      const all = [...new Set([...folders, ...created.map((folder) => resolve(folder))])];
      if (all.length === folders.length) return;
      folders = all;
      fetches.remember(key, { folders, files });
    },
    done(path: string, fileId: string) {
      files = { ...files, [resolve(path)]: hashOf([fileId]) };
      fetches.remember(key, { folders, files });
    },
    /** All files are there. */
    end: () => fetches.forget([key]),
  };
}

const isFetch = ({ folders, files }: Fetch): boolean =>
  Array.isArray(folders) && typeof files === 'object' && files !== null;
