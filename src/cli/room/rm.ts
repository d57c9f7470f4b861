/** `poproom rm`: deletes a room, removes some of its files, or restores them. */
import type { FileEntry } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../errors.ts';
import { print, printable, printDone } from '../output.ts';
import { mustConfirm } from '../prompt.ts';
import { withRoom } from '../server-context.ts';
import { findFile, pathInRoom } from './room-files.ts';

export async function remove(input: Input): Promise<void> {
  const [, ...names] = input.args;
  if (input.isSet('undo')) return restoreFiles(input, names);
  if (names.length > 0) return removeFiles(input, names);
  const done = await withRoom(input, async (room, memory) => {
    // Fails before the prompt if the room does not exist.
    await mustConfirm(input, `Delete room ${room.code} for everyone?`, () => room.info());
    const removed = await room.delete();
    memory.forget();
    return removed;
  });
  printDone(input, done);
}

async function removeFiles(input: Input, names: readonly string[]): Promise<void> {
  const removed = await withRoom(input, async (room) => {
    const all = await room.files();
    const files = names.map((name) => findFile(all, name));
    for (const { fileId } of files) await room.removeFile(fileId);
    return files;
  });
  const fileIds = removed.map(({ fileId }) => fileId);
  const message = `Removed ${quoted(removed)}.`;
  print(input, { success: true, message, fileIds }, message);
  if (!input.isSet('json')) console.error(undoHint(input, fileIds));
}

async function restoreFiles(input: Input, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) throw new UsageError('Which files? Give the ids that "poproom rm" printed.');
  const restored = await withRoom(input, async (room) => {
    for (const fileId of fileIds) await room.restoreFile(fileId);
    return (await room.files()).filter(({ fileId }) => fileIds.includes(fileId));
  });
  const message = `Restored ${quoted(restored)}.`;
  print(input, { success: true, message, fileIds }, message);
}

const quoted = (files: readonly FileEntry[]) => files.map((file) => `"${printable(pathInRoom(file))}"`).join(', ');

/** Names the room and the server as the user did. */
function undoHint(input: Input, fileIds: readonly string[]): string {
  const [room = ''] = input.args;
  const url = input.value('url');
  const line = ['poproom rm', room, ...(url === undefined ? [] : ['--url', url]), '--undo', ...fileIds].join(' ');
  return printable(`Undo within 60 seconds: ${line}`);
}
