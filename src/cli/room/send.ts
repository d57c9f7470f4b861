/** `poproom send`: checks that all files fit into the room and opens them, and then uploads them. */
import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Client, type CreatedRoom, PoproomError, type Room, type RoomInfo } from '../../client/index.ts';
import { announceUploads, type UploadOptions } from '../../client/upload.ts';
import { parseRoomId } from '../../protocol/room-code.ts';
import type { Input } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { UsageError, untilInterrupted } from '../errors.ts';
import { countOf, formatBytes, printable, runSequentially } from '../output.ts';
import { hashOf, openUnfinished } from '../preferences.ts';
import { createProgress } from '../progress.ts';
import { isRoomLink, withRoom, withServer } from '../server-context.ts';
import { findUploadInputs, openInput, type UploadInput } from './local-file.ts';
import { createWithPin, deleteUnused, invitation, readLifetime, rememberCreated } from './new.ts';
import { isTemporary, pathInRoom, recordName } from './room-files.ts';

/** Larger files are sent in parts, which show progress and can be continued. */
const inPartsFrom = 1024 * 1024;

export async function send(input: Input): Promise<void> {
  const target = readTarget(input);
  if (target.room === undefined) return sendToNewRoom(input, target.paths);
  const option = newRoomOptions.find((name) => input.isSet(name) || input.value(name) !== undefined);
  if (option) throw new UsageError(`--${option} is for a new room; leave out the code, or use "poproom set".`);
  await sendToRoom({ ...input, args: [target.room] }, target.paths);
}

const newRoomOptions = ['expires', 'no-pin', 'no-lan'];

async function sendToRoom(input: Input, paths: readonly string[]): Promise<void> {
  const unfinished = openUnfinishedUploads(readEnvironment());
  let inputs: readonly UploadInput[] | undefined;
  let uploads: readonly Upload[] | undefined;
  // Runs again after a PIN prompt, but standard input can be read only once.
  await withRoom(input, async (room) => {
    inputs ??= await findUploadInputs(input, paths);
    const found = inputs;
    await untilInterrupted(async (signal) => {
      uploads ??= await openUploads(room, found, unfinished, signal);
      await sendAll(input, room, { uploads, unfinished, signal });
    });
  });
}

/** Creates the room when the files are known to exist, and shows its code before they are sent. */
async function sendToNewRoom(input: Input, paths: readonly string[]): Promise<void> {
  const lifetime = readLifetime(input);
  const unfinished = openUnfinishedUploads(readEnvironment());
  const inputs = await findUploadInputs(input, paths);
  await withServer(input, (client, environment) =>
    untilInterrupted(async (signal) => {
      // The PIN of a room is not kept, so the command for such a room names its code.
      const key = input.isSet('pin') ? undefined : keyOfCommand(client.url, inputs);
      const code = key && unfinished.find(key)?.uploadId;
      const earlier = code ? await findUnfinishedRoom(client, code, signal) : undefined;
      const room = earlier ?? (await createWithPin(input, client, lifetime));
      const opening = openUploads(room, inputs, unfinished, signal);
      const uploads = await (earlier ? opening : opening.catch((error) => deleteUnused(room, error)));
      if (key && !room.hasPin) unfinished.remember(key, { uploadId: room.code });
      rememberCreated(environment, client, room);
      if (!input.isSet('json'))
        console.log(process.stdout.isTTY ? await invitation(input, room) : printable(room.code));
      const { code: roomId, link, expiresAt, hasPin } = room;
      const toJson = (files: readonly unknown[]) => ({ roomId, link, expiresAt, hasPin, files });
      const again = key && !room.hasPin ? undefined : againIn(room, paths);
      await sendAll(input, room, { uploads, unfinished, signal, toJson, again });
      if (key) unfinished.forget([key]);
    }),
  );
}

/** The room that an interrupted run of the same command has created, if it still exists. */
async function findUnfinishedRoom(client: Client, code: string, signal: AbortSignal): Promise<CreatedRoom | undefined> {
  const room = client.room(code);
  try {
    const { expiresAt, hasPin, name } = await room.info({ signal });
    return Object.assign(room, { expiresAt, hasPin, name });
  } catch (error) {
    if (error instanceof PoproomError && !isTemporary(error)) return undefined;
    throw error;
  }
}

const againIn = ({ code }: Room, paths: readonly string[]) =>
  `Run this to continue: poproom send ${code} ${paths.map((path) => (/^[\w./-]+$/.test(path) ? path : JSON.stringify(path))).join(' ')}`;

interface Sending {
  uploads: readonly Upload[];
  unfinished: UnfinishedUploads;
  signal: AbortSignal;
  toJson?: (files: readonly unknown[]) => unknown;
  /** How to continue after an interruption. */
  again?: string | undefined;
}

/** Until all files are sent, the ids of complete ones are kept as well: the same command does not send them again. */
async function sendAll(input: Input, room: Room, sending: Sending): Promise<void> {
  const { uploads, unfinished, signal, toJson, again = 'Run the same command again to continue.' } = sending;
  const nextTicket = announceUploads(room, uploads.length);
  let current: string | undefined;
  let [sentFiles, receivedBytes] = [0, 0];
  try {
    await runSequentially(input, { items: uploads, verb: 'Sent', toJson }, async (upload) => {
      const { key, folder } = upload;
      let keptId: string | undefined;
      const remember = (uploadId: string) => {
        keptId = uploadId;
        if (key !== undefined) unfinished.remember(key, { uploadId });
      };
      [current, receivedBytes] = [key, 0];
      const { fileUrl, fileName, fileSize, once } = await sendOne(room, upload, {
        onProgress: (bytes) => {
          receivedBytes = bytes;
        },
        onUploadId: remember,
        ticket: await nextTicket({ signal }),
        signal,
      });
      sentFiles++;
      // The id of a file is that of its upload.
      if (keptId === undefined) remember(/[0-9a-f]{32}/.exec(fileUrl)?.[0] ?? '');
      const value = { fileUrl, fileName, fileSize, ...(folder && { folder }), ...(once && { once }) };
      return { value, line: printable(fileUrl) };
    });
    unfinished.forget(uploads.flatMap(({ key }) => key ?? []));
  } catch (error) {
    const canContinue = signal.aborted || isTemporary(error);
    if (!canContinue && current !== undefined) unfinished.forget([current]);
    const isKept = sentFiles > 0 || (current !== undefined && receivedBytes > 0);
    if (canContinue && isKept && !input.isSet('json')) console.error(again);
    throw error;
  }
}

async function sendOne(room: Room, upload: Upload, { onProgress, ...options }: UploadOptions) {
  const { name, fileName, folder, type, once, bytes, uploadId } = upload;
  using progress = createProgress(name, bytes.size);
  const onPart = (received: number) => {
    onProgress?.(received, bytes.size);
    progress.show(received);
  };
  const isInParts = bytes.size > inPartsFrom || uploadId !== undefined;
  const parts = isInParts ? { onProgress: onPart, uploadId } : {};
  const uploaded = await room.upload(bytes, { name: fileName, folder, type, once, ...options, ...parts });
  progress.done();
  return uploaded;
}

/**
 * Without `--to`, the first argument is the room if it is a link or a code, and a file if it exists. An undefined room is
 * a new one.
 */
function readTarget(input: Input): { room?: string; paths: readonly string[] } {
  const { args } = input;
  const to = input.value('to');
  const hasNote = input.value('note') !== undefined;
  if (to !== undefined) return { room: to, paths: args };
  const [first, ...rest] = args;
  if (first === undefined && hasNote) return { paths: [] };
  if (first === undefined) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (isRoomLink(first)) return { room: first, paths: rest };
  const isCode = parseRoomId(first) !== undefined;
  if (exists(first)) {
    // A code alone makes no sense, so a single argument that exists is a file.
    if (rest.length > 0 && isSpelledAsCode(first))
      throw new UsageError(
        `"${first}" is a file here, and could be a room code; write ./${first} for the file, or --to ${first} for the room.`,
      );
    return { paths: args };
  }
  if (isCode && rest.length === 0 && !hasNote)
    throw new UsageError(
      `There is no file "${first}"; if it is a room code, give the paths of the files after it, or - for standard input.`,
    );
  if (isCode || /^https?:/.test(first)) return { room: first, paths: rest };
  if (rest[0] !== undefined && exists(rest[0]))
    throw new UsageError(`"${first}" is not a valid room code, and there is no such file.`);
  return { paths: args };
}

/** A name such as "photos" is also accepted as a code, because O is read as 0, but no code is printed like this. */
const isSpelledAsCode = (text: string) => parseRoomId(text) === text.replaceAll('-', '').toUpperCase();

const exists = (path: string) => path === '-' || lstatSync(path, { throwIfNoEntry: false }) !== undefined;

interface Upload extends UploadInput {
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

async function openUploads(
  room: Room,
  inputs: readonly UploadInput[],
  earlier: UnfinishedUploads,
  signal: AbortSignal,
) {
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

function toCandidates(room: Room, inputs: readonly UploadInput[], earlier: UnfinishedUploads): Candidate[] {
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
function keyOfCommand(server: string, inputs: readonly UploadInput[]): string | undefined {
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

type UnfinishedUploads = ReturnType<typeof openUnfinishedUploads>;

/** The id of an upload to an encrypted room contains the salt of the file, in sealed form. */
function openUnfinishedUploads({ stateFolder }: Environment) {
  const isValid = ({ uploadId }: { uploadId: string }) => idPattern.test(uploadId);
  return openUnfinished(join(stateFolder, 'uploads.json'), maxUnfinished, isValid);
}
