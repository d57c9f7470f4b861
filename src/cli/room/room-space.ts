/** Checks against the limits of the server that files fit into a room, before the first byte is sent. */
import { PoproomError, type Room, type RoomInfo } from '../../client/index.ts';
import { countOf, formatBytes } from '../counts.ts';
import { printable } from '../printable.ts';

type Limits = RoomInfo['limits'];

export interface RoomSpace {
  /** Throws if a file of this size is too large. */
  checkFile(name: string, size: number): void;
  /** Throws if files of these sizes do not fit into the room. */
  checkRoom(sizes: readonly number[]): Promise<void>;
}

export async function readRoomSpace(room: Room, signal: AbortSignal): Promise<RoomSpace> {
  const { limits, fileCount, fileBytes } = (await room.info({ signal })) as Partial<RoomInfo>;
  // An older server does not state its limits, and rejects a file that exceeds them.
  if (!limits) return { checkFile() {}, async checkRoom() {} };
  return {
    checkFile(name, size) {
      if (size > limits.fileBytes) throw tooLarge(name, limits);
    },

    async checkRoom(sizes) {
      const needed = { count: sizes.length, bytes: sumOf(sizes) };
      if (!reasonFull({ count: fileCount ?? 0, bytes: fileBytes ?? 0 }, needed, limits)) return;
      // The server makes room by erasing removed files, and may have a part of these files already: only the files that
      // it lists are certain.
      const listed = await room.files({ signal });
      const used = { count: listed.length, bytes: sumOf(listed.map(({ fileSize }) => fileSize)) };
      const reason = reasonFull(used, needed, limits);
      if (reason) throw new PoproomError('ROOM_FULL', reason);
    },
  };
}

const tooLarge = (name: string, { fileBytes }: Limits) =>
  new PoproomError(
    'FILE_TOO_LARGE',
    `${printable(name)} is too large: this server accepts files of up to ${formatBytes(fileBytes)}.`,
  );

interface Amount {
  count: number;
  bytes: number;
}

function reasonFull(used: Amount, needed: Amount, limits: Limits): string | undefined {
  const [filesLeft, bytesLeft] = [limits.filesPerRoom - used.count, limits.fileBytesPerRoom - used.bytes];
  if (needed.count > filesLeft)
    return `The room has space for ${countOf(Math.max(0, filesLeft), 'more file')}, but you are sending ${needed.count}.`;
  if (needed.bytes > bytesLeft)
    return `The room has ${formatBytes(Math.max(0, bytesLeft))} left, but you are sending ${formatBytes(needed.bytes)}.`;
  return undefined;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
