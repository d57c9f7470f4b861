/** The commands for the text of a room: get, put, history and restore. */
import type { Room, RoomText } from '../../client/index.ts';
import { type Input, readVersion } from '../command.ts';
import { UsageError } from '../errors.ts';
import { formatBytes, localTime, print, printable, printContent, printDone, printList, table } from '../output.ts';
import { isPiped, mustConfirm, readInputText } from '../prompt.ts';
import { withRoom } from '../server-context.ts';

export async function get(input: Input): Promise<void> {
  printContent(input, await withRoom(input, (room) => room.read()));
}

export async function put(input: Input): Promise<void> {
  const [, text, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Put the text in quotes, so that it is a single argument.');
  const [base, isAppended] = [input.value('base-version'), input.isSet('append')];
  if (isAppended && base !== undefined)
    throw new UsageError('Use either --append or --base-version: appending overwrites nothing.');
  const baseVersion = base === undefined ? undefined : readVersion(base, 'poproom get --json');
  if (text === undefined && !isPiped()) throw new UsageError('Which text? Give it in quotes, or pipe it in.');
  const content = text === undefined || text === '-' ? await readInputText() : text;
  const write = (room: Room): Promise<Omit<RoomText, 'content'>> =>
    isAppended ? room.append(content) : room.write(content, { baseVersion });
  const { version, timestamp } = await withRoom(input, write);
  if (input.isSet('json')) print(input, { version, timestamp }, '');
}

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
  const rows = entries.map(({ version, timestamp, size, deviceId = '' }) => {
    return [printable(String(version)), localTime(timestamp), formatBytes(size), printable(deviceId)];
  });
  printList(input, entries, table([['VERSION', 'TIME', 'SIZE', 'DEVICE'], ...rows]), 'This room has no earlier texts.');
}

async function clearHistory(input: Input, room: Room): Promise<void> {
  // Fails before the prompt if the room does not exist.
  await mustConfirm(input, `Delete the history of room ${room.code} for everyone?`, () => room.info());
  printDone(input, await room.clearHistory());
}

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
