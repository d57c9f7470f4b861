/** `poproom rm`: deletes a room, or some of its files. */
import type { Confirmation, Room } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { ExitError } from '../failure.ts';
import { print } from '../output.ts';
import { printable } from '../printable.ts';
import { confirm } from '../question.ts';
import { withRoom } from '../server-context.ts';
import { findFile } from './find-file.ts';

export async function remove(input: Input): Promise<void> {
  const [, ...names] = input.args;
  const done = await withRoom<Confirmation>(input, (room) =>
    names.length === 0 ? removeRoom(input, room) : removeFiles(room, names),
  );
  print(input, done, printable(done.message));
}

async function removeRoom(input: Input, room: Room) {
  // Fail before the prompt if the room does not exist.
  await room.info();
  const mustAsk = process.stdin.isTTY && !input.isSet('yes');
  if (mustAsk && !(await confirm(`Delete room ${room.code} for everyone?`))) throw new ExitError(1);
  return room.delete();
}

async function removeFiles(room: Room, names: readonly string[]): Promise<Confirmation> {
  const all = await room.files();
  const files = names.map((name) => findFile(all, name));
  for (const { fileId } of files) await room.removeFile(fileId);
  const removed = files.map(({ fileName }) => `"${printable(fileName)}"`).join(', ');
  return { success: true, message: `Removed ${removed}.` };
}
