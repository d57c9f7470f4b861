/**
 * Copies keys, rooms and files from one engine to another, and then checks that everything is there. It never
 * overwrites data at the target, so an interrupted run can be repeated.
 */

import { forEachConcurrent } from '../core/concurrency.ts';
import { blobOf, isUnfinishedName, type StoredFile } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import { checkMigration, differenceOf } from './check.ts';
import type { Migration, MigrationReport } from './types.ts';

/** Also the maximum number of concurrent files, and of texts in memory. */
const concurrentRooms = 16;

export async function migrate(migration: Migration): Promise<MigrationReport> {
  await removeUnfinished(migration);
  await moveFingerprint(migration);
  const keys = await moveKeys(migration);
  const moved = await moveRooms(migration);
  return { moved: { keys, ...moved }, ...(await checkMigration(migration, concurrentRooms)) };
}

/** A killed run may have left incomplete files under names that this run will use. */
async function removeUnfinished({ to, clock }: Migration): Promise<void> {
  for await (const names of to.blobs.orphanBlobs(clock())) {
    const known = await to.trash.knownBlobs(names);
    const left = names.filter((name) => isUnfinishedName(name) && !known.has(name));
    // The blob itself may be complete.
    for (const name of left) await to.blobs.removeLeftovers(blobOf(name));
    return;
  }
}

/** So that a server at the target does not start with another secret than that of the rooms. */
async function moveFingerprint({ from, to }: Migration): Promise<void> {
  const fingerprint = await from.secretRecord.find();
  if (fingerprint !== undefined) await to.secretRecord.keep(fingerprint);
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
  await forEachConcurrent(from.archive.codes(clock()), concurrentRooms, async (code) => {
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
  // It has expired since it was listed.
  if (!record) return;
  const there = await to.archive.readRoom(code, clock());
  if (there && differenceOf(record, there)) return;
  // Files first, so that a room at the target is always complete.
  for (const file of record.files) {
    if (!(await moveFile(migration, file))) continue;
    moved.files += 1;
    moved.bytes += file.size;
  }
  if (!there && (await to.archive.restoreRoom(record, clock())) === 'restored') moved.rooms += 1;
}

/** Missing or incomplete bytes are skipped. The room is moved, and the check reports them. */
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
