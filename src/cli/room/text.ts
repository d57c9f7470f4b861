/** The commands for the text of a room: get, put, history and restore. */
import type { HistoryEntry, Room } from '../../client/index.ts';
import { assertOnlyCode, type Input, readVersion } from '../command.ts';
import { UsageError } from '../errors.ts';
import { formatBytes, localTime, print, printable, printContent, printNotice, table } from '../output.ts';
import { isPiped, mustConfirm, readInputText } from '../prompt.ts';
import { withRoom } from '../server-context.ts';

/** `poproom get`: prints the text of a room. */
export async function get(input: Input): Promise<void> {
  assertOnlyCode('get', input);
  printContent(input, await withRoom(input, (room) => room.read()));
}

/** `poproom put`: replaces the text of a room, or appends to it. */
export async function put(input: Input): Promise<void> {
  const [, text, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Put the text in quotes, so that it is a single argument.');
  const store = readAction(input);
  const content = text === undefined || text === '-' ? await readStandardInput(text === '-') : text;
  const { version, timestamp } = await withRoom(input, (room) => store(room, content));
  if (input.isSet('json')) print(input, { version, timestamp }, '');
}

type Store = (room: Room, content: string) => Promise<{ version: number; timestamp: string }>;

function readAction(input: Input): Store {
  const base = input.value('base-version');
  if (input.isSet('append')) {
    if (base !== undefined)
      throw new UsageError('Use either --append or --base-version: appending overwrites nothing.');
    return (room, content) => room.append(content);
  }
  const baseVersion = base === undefined ? undefined : readVersion(base, 'poproom get --json');
  return (room, content) => room.write(content, { baseVersion });
}

function readStandardInput(isRequested: boolean): Promise<string> {
  if (!isRequested && !isPiped()) throw new UsageError('Which text? Give it in quotes, or pipe it in.');
  return readInputText();
}

/** `poproom history`: lists the earlier texts of a room, prints one of them, or deletes them all. */
export async function history(input: Input): Promise<void> {
  const [, version, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Give one version, or none to list them all.');
  if (version === undefined)
    return withRoom(input, (room) => (input.isSet('delete') ? clearHistory(input, room) : listHistory(input, room)));
  if (input.isSet('delete')) throw new UsageError('--delete deletes the whole history; leave out the version.');
  const wanted = readVersion(version, 'poproom history');
  printContent(input, await withRoom(input, (room) => room.historyText(wanted)));
}

async function listHistory(input: Input, room: Room): Promise<void> {
  const entries = await room.history();
  const rows = [['VERSION', 'TIME', 'SIZE', 'DEVICE'], ...entries.map(historyRow)];
  if (entries.length > 0 || input.isSet('json')) print(input, entries, table(rows));
  else printNotice('This room has no earlier texts.');
}

function historyRow({ version, timestamp, size, deviceId = '' }: HistoryEntry): string[] {
  return [printable(String(version)), localTime(timestamp), formatBytes(size), printable(deviceId)];
}

async function clearHistory(input: Input, room: Room): Promise<void> {
  // Fails before the prompt if the room does not exist.
  await mustConfirm(input, `Delete the history of room ${room.code} for everyone?`, () => room.info());
  const done = await room.clearHistory();
  print(input, done, printable(done.message));
}

/** `poproom restore`: makes an earlier text the current one again. */
export async function restore(input: Input): Promise<void> {
  const [, version, ...rest] = input.args;
  if (version === undefined)
    throw new UsageError('Which version? Give a room code and a version from "poproom history".');
  if (rest.length > 0) throw new UsageError('Give one version only.');
  const restored = readVersion(version, 'poproom history');
  const text = await withRoom(input, (room) => room.restore(restored));
  const size = formatBytes(Buffer.byteLength(text.content));
  const result = { restored, version: text.version, timestamp: text.timestamp };
  print(input, result, `Restored version ${restored} (${size}) as version ${text.version}.`);
}
