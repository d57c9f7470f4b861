/** `poproom recent`: lists the rooms that were used on this machine. */
import type { Input } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { exitCode, UsageError } from '../errors.ts';
import {
  forgetAllRooms,
  forgetRoom,
  keepsRecentRooms,
  openEncryptedRooms,
  type RecentRoom,
  readRecentRooms,
} from '../known-rooms.ts';
import { formatDuration, printable, printList, table } from '../output.ts';
import { chooseServer, parseCode } from '../server-context.ts';

export async function recent(input: Input): Promise<void> {
  const [action, ...codes] = input.args;
  const environment = readEnvironment();
  if (action === 'forget') return forget(environment, codes);
  if (action !== undefined && (action !== 'clear' || codes.length > 0))
    throw new UsageError('Run poproom recent alone, with forget CODE…, or with clear.');
  if (action === 'clear') return forgetAllRooms(environment);
  if (input.isSet('codes')) return printCodes(environment);
  list(input, environment);
}

function list(input: Input, environment: Environment): void {
  const rooms = readRecentRooms(environment);
  const rows = [['CODE', 'TIME LEFT', 'SERVER', 'NAME'], ...rooms.map(rowOf)];
  const notice = keepsRecentRooms(environment) ? 'There are no recent rooms.' : 'The list of recent rooms is off.';
  printList(input, rooms.map(toJson), table(rows), notice);
}

const rowOf = ({ code, expiresAt, url, name = '' }: RecentRoom): string[] => [
  code,
  expiresAt === undefined ? 'unknown' : formatDuration(Date.parse(expiresAt) - Date.now()),
  printable(url),
  printable(name),
];

function toJson({ code, url, usedAt, expiresAt, name }: RecentRoom) {
  return { roomId: code, link: `${url}/r/${code}`, url, usedAt: new Date(usedAt).toISOString(), expiresAt, name };
}

/** A code of another server would need its URL. */
function printCodes(environment: Environment): void {
  const url = chooseServer(environment).url.replace(/\/+$/, '');
  for (const room of readRecentRooms(environment)) if (room.url === url) console.log(room.code);
}

function forget(environment: Environment, texts: readonly string[]): void {
  if (texts.length === 0) throw new UsageError('Which room? Give a code from "poproom recent".');
  const codes = texts.map((text) => parseCode(text));
  for (const code of codes) {
    const found = readRecentRooms(environment).filter((room) => room.code === code);
    for (const room of found) forgetRoom(environment, room);
    const wasEncrypted = openEncryptedRooms(environment).forgetCode(code);
    if (found.length > 0 || wasEncrypted) continue;
    console.error(`Room ${code} is not in the list.`);
    process.exitCode = exitCode.missing;
  }
}
