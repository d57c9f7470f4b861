/** `poproom fetch --zip`: downloads all files of a room as one zip archive. */
import { stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { PoproomError, type Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { untilInterrupted } from '../interruption.ts';
import { print } from '../output.ts';
import { printable } from '../printable.ts';
import { withRoom } from '../server-context.ts';
import { timeoutOf } from '../timeout.ts';
import { UsageError } from '../usage-error.ts';
import { writeStdout } from '../write-stdout.ts';
import { atomicWrite } from './atomic-write.ts';
import { isFolder, missingFolders, withFolders } from './destination.ts';
import { consumeResponse } from './download.ts';
import { publishFor, readExistingChoice, withoutExisting } from './existing-files.ts';

export async function fetchZip(input: Input): Promise<void> {
  const output = input.value('output');
  if (input.args.length > 1) throw new UsageError('--zip downloads all files; do not name one.');
  if (input.isSet('list')) throw new UsageError('Use either --zip or --list.');
  if (output === '-' && process.stdout.isTTY)
    throw new UsageError('A zip archive cannot be shown on a terminal; use -o FILE, or redirect the output.');
  await withRoom(input, (room) =>
    untilInterrupted((signal) =>
      output === '-' ? toStandardOutput(input, room, signal) : toDisk(input, room, signal),
    ),
  );
}

async function toStandardOutput(input: Input, room: Room, signal: AbortSignal): Promise<void> {
  await download(input, room, signal, async (bytes) => {
    for await (const chunk of bytes) await writeStdout(chunk);
  });
}

async function toDisk(input: Input, room: Room, signal: AbortSignal): Promise<void> {
  const output = input.value('output') ?? '.';
  const choice = readExistingChoice(input);
  let path = await pathFor(room, output);
  const [item] = await withoutExisting([{ path, folders: await missingFolders(dirname(path)) }], choice);
  if (!item) return;
  const publish = publishFor(choice, (renamed) => {
    path = renamed;
  });
  const isCreated = output.endsWith('/') || output.endsWith(sep);
  await withFolders({ folders: isCreated ? item.folders : [] }, () =>
    download(input, room, signal, (bytes) => atomicWrite(item.path, bytes, publish)),
  );
  const { size } = await stat(path);
  print(input, { path, fileSize: size }, printable(path));
}

async function download(
  input: Input,
  room: Room,
  signal: AbortSignal,
  consume: Parameters<typeof consumeResponse>[2],
): Promise<void> {
  const response = await room.downloadZip({ signal });
  const size = announcedSize(response);
  const how = { showsProgress: true, timeoutSeconds: timeoutOf(input) };
  await consumeResponse(response, { name: nameOf(room), size, ...how }, consume);
}

/** Without it, an incomplete or endless archive would not be noticed. */
function announcedSize({ headers }: Response): number {
  const length = headers.get('Content-Length');
  if (length !== null && !headers.has('Content-Encoding')) return Number(length);
  const message = 'The server or a proxy did not announce the size of the archive; download the files without --zip.';
  throw new PoproomError('INVALID_RESPONSE', message);
}

const pathFor = async (room: Room, output: string) => ((await isFolder(output)) ? join(output, nameOf(room)) : output);
const nameOf = ({ code }: Room) => `poproom-${code}.zip`;
