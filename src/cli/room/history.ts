/** `poproom history`: lists the earlier texts of a room, prints one of them, or deletes them all. */
import type { HistoryEntry, Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { formatBytes } from '../counts.ts';
import { ExitError } from '../failure.ts';
import { print, printNotice } from '../output.ts';
import { printable } from '../printable.ts';
import { confirm } from '../question.ts';
import { withRoom } from '../server-context.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';
import { readVersion } from '../version-argument.ts';
import { printContent } from './print-content.ts';

export async function history(input: Input): Promise<void> {
  const [, version, ...rest] = input.args;
  if (rest.length > 0) throw new UsageError('Give one version, or none to list them all.');
  if (version === undefined)
    return withRoom(input, (room) => (input.isSet('delete') ? clear(input, room) : list(input, room)));
  if (input.isSet('delete')) throw new UsageError('--delete deletes the whole history; leave out the version.');
  const wanted = readVersion(version, 'poproom history');
  printContent(input, await withRoom(input, (room) => room.historyText(wanted)));
}

async function list(input: Input, room: Room): Promise<void> {
  const entries = await room.history();
  const rows = [['VERSION', 'TIME', 'SIZE', 'DEVICE'], ...entries.map(rowOf)];
  if (entries.length > 0 || input.isSet('json')) print(input, entries, table(rows));
  else printNotice('This room has no earlier texts.');
}

function rowOf({ version, timestamp, size, deviceId = '' }: HistoryEntry): string[] {
  return [printable(String(version)), localTime(timestamp), formatBytes(size), printable(deviceId)];
}

/** Such as "2026-11-15 09:30:05": the Swedish locale uses the ISO 8601 format. */
const localTime = (timestamp: string) => new Date(timestamp).toLocaleString('sv-SE');

async function clear(input: Input, room: Room): Promise<void> {
  if (process.stdin.isTTY && !input.isSet('yes')) {
    // Fail before the prompt if the room does not exist.
    await room.info();
    if (!(await confirm(`Delete the history of room ${room.code} for everyone?`))) throw new ExitError(1);
  }
  const done = await room.clearHistory();
  print(input, done, printable(done.message));
}
