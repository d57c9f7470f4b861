/**
 * Moves keys, rooms and files from one engine to another, and then looks whether everything is there. What is there
 * already is left alone, so a run that broke off is simply run again. Nothing that is there is ever overwritten.
 */

import { forEachConcurrent } from '../core/concurrency.ts';
import type { StoredFile } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { checkMigration, differenceOf } from './check.ts';
import type { Migration, MigrationReport } from './types.ts';

/** As many files at a time, and as many texts in memory. */
const roomsAtOnce = 16;

export async function migrate(migration: Migration): Promise<MigrationReport> {
  await removeUnfinished(migration);
  const keys = await moveKeys(migration);
  const moved = await moveRooms(migration);
  return { moved: { keys, ...moved }, ...(await checkMigration(migration, roomsAtOnce)) };
}

/** A run that was killed may have left files half written, under the names that this one will use. */
async function removeUnfinished({ to, clock }: Migration): Promise<void> {
  for await (const _ of to.blobs.orphanBlobs(clock())) return;
}

async function moveKeys({ from, to }: Migration): Promise<number> {
  let moved = 0;
  for (const key of await from.archive.keys()) {
    if ((await to.archive.restoreKey(key)) === 'restored') moved += 1;
  }
  return moved;
}

type Moved = Omit<MigrationReport['moved'], 'keys'>;

async function moveRooms(migration: Migration): Promise<Moved> {
  const { from, clock, signal, progress } = migration;
  const moved: Moved = { rooms: 0, files: 0, bytes: 0 };
  const totalRooms = await from.rooms.countRooms(clock());
  let rooms = 0;
  await forEachConcurrent(from.archive.codes(clock()), roomsAtOnce, async (code) => {
    signal.throwIfAborted();
    await moveRoom(migration, code, moved);
    rooms += 1;
    progress({ phase: 'moving', rooms, totalRooms, bytes: moved.bytes });
  });
  return moved;
}

async function moveRoom(migration: Migration, code: RoomCode, moved: Moved): Promise<void> {
  const { from, to, clock } = migration;
  const record = await from.archive.readRoom(code, clock());
  // Its time came meanwhile.
  if (!record) return;
  const there = await to.archive.readRoom(code, clock());
  if (there && differenceOf(record, there)) return;
  // Bytes first: a room that is there is whole.
  for (const file of record.files) {
    if (!(await moveFile(migration, file))) continue;
    moved.files += 1;
    moved.bytes += file.size;
  }
  if (!there && (await to.archive.restoreRoom(record, clock())) === 'restored') moved.rooms += 1;
}

/** Bytes that are not there, or not all of them, cannot be moved; the room is, and the check will tell of them. */
async function moveFile({ from, to, signal }: Migration, { blob, size }: StoredFile): Promise<boolean> {
  signal.throwIfAborted();
  if ((await to.blobs.size(blob)) === size) return false;
  if ((await from.blobs.size(blob)) !== size) return false;
  await to.blobs.checkSpace(size);
  const bytes = await from.blobs.open(blob, undefined);
  if (!bytes) return false;
  try {
    await to.blobs.put(blob, bytes, size, signal);
  } finally {
    bytes.destroy();
  }
  return true;
}
