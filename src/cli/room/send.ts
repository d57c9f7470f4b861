/** `poproom send`: uploads files. */
import { lstatSync } from 'node:fs';
import { type Client, type CreatedRoom, type FileUploaded, PoproomError, type Room } from '../../client/index.ts';
import { announceUploads, type UploadOptions } from '../../client/upload.ts';
import { parseRoomId } from '../../protocol/room-code.ts';
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError, untilInterrupted } from '../errors.ts';
import { printable, runSequentially } from '../output.ts';
import { createProgress } from '../progress.ts';
import { isRoomLink, withRoom, withServer } from '../server-context.ts';
import { createWithPin, deleteUnused, invitation, readLifetime, rememberCreated } from './new.ts';
import { isTemporary } from './room-files.ts';
import {
  findUploadInputs,
  keyOfCommand,
  openUnfinishedUploads,
  openUploads,
  type UnfinishedUploads,
  type Upload,
  type UploadInputs,
} from './uploads.ts';

/** Larger files are sent in parts, which show progress and can be continued. */
const inPartsFrom = 1024 * 1024;

export async function send(input: Input): Promise<void> {
  const target = readTarget(input);
  if (target.room === undefined) return sendToNewRoom(input, target.paths);
  for (const option of newRoomOptions) {
    if (input.isSet(option) || input.value(option) !== undefined)
      throw new UsageError(`--${option} is for a new room; leave out the code, or use "poproom set".`);
  }
  await sendToRoom({ ...input, args: [target.room] }, target.paths);
}

const newRoomOptions = ['expires', 'no-pin', 'no-lan'];

async function sendToRoom(input: Input, paths: readonly string[]): Promise<void> {
  const unfinished = openUnfinishedUploads(readEnvironment());
  let inputs: UploadInputs | undefined;
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

async function sendOne(room: Room, upload: Upload, { onProgress, ...options }: UploadOptions): Promise<FileUploaded> {
  const { name, fileName, folder, type, once, bytes, uploadId } = upload;
  const progress = createProgress(name, bytes.size);
  const onPart = (received: number) => {
    onProgress?.(received, bytes.size);
    progress.show(received);
  };
  const isInParts = bytes.size > inPartsFrom || uploadId !== undefined;
  const parts = isInParts ? { onProgress: onPart, uploadId } : {};
  try {
    const uploaded = await room.upload(bytes, { name: fileName, folder, type, once, ...options, ...parts });
    progress.done();
    return uploaded;
  } catch (error) {
    progress.clear();
    throw error;
  }
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
