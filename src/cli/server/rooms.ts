/**
 * `poproom rooms`: lists the rooms of this machine; and lists, shows and removes those of a server for its operator, also
 * while it runs.
 */
import { readConfig } from '../../config.ts';
import type { RoomDirectory, RoomSummary } from '../../core/ports/admin.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { maskCode } from '../../core/tokens.ts';
import { openRoomDirectory } from '../../engine/open.ts';
import { parseRoomCode } from '../../protocol/room-code.ts';
import type { Input } from '../command.ts';
import { ExitError, exitCode, UsageError } from '../errors.ts';
import { countOf, formatBytes, formatDuration, print, printNotice, table } from '../output.ts';
import { mustConfirm } from '../prompt.ts';
import { assertDataExists } from './keys.ts';

const usage = 'Usage: poproom rooms [list | show CODE | rm CODE…], or with --admin: poproom rooms [list | rm ROOM…]';
const shownByDefault = 100;

/** The number of devices is undefined if the server did not respond. */
type ListedRoom = RoomSummary & { devices: number | undefined };

export async function rooms(input: Input): Promise<void> {
  if (input.isSet('admin')) return overAdminApi(input);
  const [command, ...named] = input.args;
  if (command === undefined) return listRecent(input);
  if (!['list', 'show', 'rm'].includes(command)) throw new UsageError(usage);
  const codes = named.map(readCode);
  const client = readClient(input.value('client'));
  const limit = readLimit(input.value('limit'));
  if (command === 'list' ? codes.length > 0 : command === 'show' && codes.length !== 1) throw new UsageError(usage);
  const namesRooms = client === undefined ? codes.length > 0 : codes.length === 0;
  if (command === 'rm' && !namesRooms) throw new UsageError(whichRooms);
  const config = readConfig();
  if (config.store === 'sqlite:') assertDataExists(config.dataDir);
  await using opened = new AsyncDisposableStack();
  const directory = opened.adopt(await openRoomDirectory(config), (directory) => directory.close());
  if (command === 'list') await list(input, directory, client, limit);
  else if (command === 'show') await show(input, directory, codes[0] as RoomCode);
  else await remove(input, directory, codes, client);
}

/** Lists the rooms that were used on this machine, as `poproom recent` lists them. */
async function listRecent(input: Input): Promise<void> {
  const option = ofServers.find((name) => input.isSet(name) || input.value(name) !== undefined);
  if (option)
    throw new UsageError(`--${option} is for the rooms of a server: poproom rooms list, or --admin. ${usage}`);
  await (await import('../local/recent.ts')).recent(input);
}

const ofServers = ['client', 'limit', 'offset', 'sort', 'reveal', 'yes', 'url', 'timeout'];

async function overAdminApi(input: Input): Promise<void> {
  const [command = 'list', ...named] = input.args;
  if (!['list', 'rm'].includes(command) || (command === 'list' && named.length > 0)) throw new UsageError(usage);
  await (await import('./admin.ts')).admin({ ...input, args: command === 'list' ? ['rooms'] : ['rm', ...named] });
}

const whichRooms = `Which rooms? Give their codes, or a client with --client HASH. ${usage}`;

/** Accepts a code in any spelling, or the link of a room. */
function readCode(text: string): RoomCode {
  const code = parseRoomCode(/\/r\/([^/?#]+)/.exec(text)?.[1] ?? text);
  if (!code) throw new UsageError(`"${text}" is not a valid room code; example: 7KQ2MX`);
  return code;
}

function readClient(text: string | undefined): string | undefined {
  if (text === undefined || /^[0-9a-f]{12}$/.test(text)) return text;
  throw new UsageError('--client needs 12 hexadecimal digits, as shown by "poproom rooms list" and the log.');
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return shownByDefault;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('--limit must be a whole number; 0 shows all rooms.');
  return Number(text) || Number.POSITIVE_INFINITY;
}

async function list(input: Input, directory: RoomDirectory, client: string | undefined, limit: number): Promise<void> {
  const all = await roomsOf(directory, client);
  const listed = await withDevices(directory, all.slice(0, limit));
  const head = ['ROOM', 'AGE', 'EXPIRES IN', 'SIZE', 'FILES', 'DEVICES', 'ENCRYPTED', 'CLIENT'];
  if (listed.length > 0 || input.isSet('json'))
    print(input, listed.map(entryOf(input)), table([head, ...listed.map(rowOf(input))]));
  if (input.isSet('json')) return;
  const bytes = all.reduce((sum, room) => sum + bytesOf(room), 0);
  const hidden = all.length > listed.length ? ` Showing the ${listed.length} largest; use --limit 0 to show all.` : '';
  printNotice(`${countOf(all.length, 'room')}, ${formatBytes(bytes)} of files and texts.${hidden}`);
}

/** Largest first. */
async function roomsOf(directory: RoomDirectory, client: string | undefined): Promise<RoomSummary[]> {
  const all: RoomSummary[] = [];
  for await (const room of directory.list(Date.now())) {
    if (client === undefined || room.client === client) all.push(room);
  }
  return all.sort((one, other) => bytesOf(other) - bytesOf(one));
}

async function withDevices(directory: RoomDirectory, all: readonly RoomSummary[]): Promise<ListedRoom[]> {
  if (all.length === 0) return [];
  const codes = all.map(({ code }) => code);
  const devices = await directory.countDevices(codes, Date.now());
  return all.map((room, i) => ({ ...room, devices: devices?.[i] }));
}

async function show(input: Input, directory: RoomDirectory, code: RoomCode): Promise<void> {
  const found = await directory.find(code, Date.now());
  if (!found) throw noSuchRoom();
  const [room] = await withDevices(directory, [found]);
  if (room) print(input, entryOf(input)(room), detailsOf(input, room));
}

async function remove(input: Input, directory: RoomDirectory, codes: readonly RoomCode[], client: string | undefined) {
  const chosen = client === undefined ? codes : (await roomsOf(directory, client)).map(({ code }) => code);
  if (chosen.length === 0) throw noSuchRoom();
  await mustConfirm(input, `Delete ${countOf(chosen.length, 'room')} for everyone?`);
  const removed = await directory.remove(chosen, Date.now());
  const outcomes = chosen.map((code, i) => {
    const outcome = removed[i] === 'expired' ? 'gone' : (removed[i] ?? 'gone');
    return { roomId: shown(input, code), outcome };
  });
  print(input, outcomes, outcomes.map(({ roomId, outcome }) => `${roomId}: ${sentences[outcome]}`).join('\n'));
  if (outcomes.every(({ outcome }) => outcome === 'gone')) process.exitCode = exitCode.missing;
}

const sentences: Record<'removed' | 'requested' | 'gone', string> = {
  removed: 'Removed.',
  requested: 'The server has not confirmed the removal yet. It will remove the room.',
  gone: 'There is no such room.',
};

function noSuchRoom(): ExitError {
  console.error('poproom: There is no such room.');
  return new ExitError(exitCode.missing);
}

/** Masked, because anyone with the code can read the room. */
const shown = (input: Input, code: RoomCode) => (input.isSet('reveal') ? code : maskCode(code));

const bytesOf = ({ fileBytes, textBytes }: RoomSummary) => fileBytes + textBytes;

const entryOf = (input: Input) => (room: ListedRoom) => ({
  roomId: shown(input, room.code),
  createdAt: toTimestamp(room.createdAt),
  expiresAt: toTimestamp(room.expiresAt),
  hasPin: room.hasPin,
  encrypted: room.salt !== undefined,
  fileCount: room.fileCount,
  fileBytes: room.fileBytes,
  textBytes: room.textBytes,
  deviceCount: room.devices ?? null,
  client: room.client ?? null,
});

const rowOf = (input: Input) => (room: ListedRoom) => [
  shown(input, room.code),
  age(room),
  rest(room),
  formatBytes(bytesOf(room)),
  String(room.fileCount),
  devices(room),
  encrypted(room),
  room.client ?? '-',
];

function detailsOf(input: Input, room: ListedRoom): string {
  return table([
    ['Room', shown(input, room.code)],
    ['Created', `${toTimestamp(room.createdAt)} (${age(room)} ago)`],
    ['Expires', `${toTimestamp(room.expiresAt)} (in ${rest(room)})`],
    ['PIN', room.hasPin ? 'yes' : 'no'],
    ['Encrypted', encrypted(room)],
    ['Files', `${room.fileCount} (${formatBytes(room.fileBytes)})`],
    ['Text', `${formatBytes(room.textBytes)} with its history`],
    ['Devices', devices(room)],
    ['Client', room.client ?? 'unknown'],
  ]);
}

const encrypted = ({ salt }: RoomSummary) => (salt === undefined ? 'no' : 'yes');
const age = ({ createdAt }: RoomSummary) => formatDuration(Date.now() - createdAt);
const rest = ({ expiresAt }: RoomSummary) => formatDuration(expiresAt - Date.now());
const devices = ({ devices: number }: ListedRoom) => (number === undefined ? '?' : String(number));
