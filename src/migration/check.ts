/** Checks that all keys, rooms and files of one engine are in another, byte for byte. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { forEachConcurrent } from '../core/concurrency.ts';
import type { BlobStore, KeyRecord, RoomRecord, StoredFile } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { Differences, Migration, MigrationReport } from './types.ts';

const maxReported = 20;

export async function checkMigration(
  migration: Migration,
  maxConcurrent: number,
): Promise<Pick<MigrationReport, 'checked' | 'differences'>> {
  const { from, clock, signal, progress } = migration;
  const differences: Differences = { count: 0, first: [] };
  const report = (sentence: string) => {
    differences.count += 1;
    if (differences.count <= maxReported) differences.first.push(sentence);
  };
  const checked = { keys: await checkKeys(migration, report), rooms: 0, files: 0 };
  const totalRooms = await from.rooms.countRooms(clock());
  let bytes = 0;
  await forEachConcurrent(from.archive.codes(clock()), maxConcurrent, async (code) => {
    signal.throwIfAborted();
    const files = await checkRoom(migration, code, report);
    checked.rooms += 1;
    checked.files += files.length;
    bytes += files.reduce((sum, { size }) => sum + size, 0);
    progress({ phase: 'checking', rooms: checked.rooms, totalRooms, bytes });
  });
  return { checked, differences };
}

type Report = (sentence: string) => void;

async function checkKeys({ from, to }: Migration, report: Report): Promise<number> {
  const there = new Map((await to.archive.keys()).map((key) => [key.id, key]));
  const keys = await from.archive.keys();
  for (const key of keys) {
    if (!isDeepStrictEqual(there.get(key.id), key)) report(differentKey(key, there.get(key.id)));
  }
  return keys.length;
}

function differentKey({ id, name }: KeyRecord, there: KeyRecord | undefined): string {
  if (there) return `the key "${name}" (${id}) differs at the target, or one of the two is revoked`;
  return `the key "${name}" (${id}) is missing at the target; another key may have its name`;
}

/** Returns the files whose bytes were compared. */
async function checkRoom(
  { from, to, clock, signal }: Migration,
  code: RoomCode,
  report: Report,
): Promise<StoredFile[]> {
  const record = await from.archive.readRoom(code, clock());
  const there = await to.archive.readRoom(code, clock());
  // It may have expired between the two reads.
  if (!record || record.expiresAt <= clock()) return [];
  const difference = differenceOf(record, there);
  if (difference) report(`room ${code}: ${difference}`);
  if (difference) return [];
  for (const file of record.files) {
    const fault = await faultOf(from.blobs, to.blobs, file, signal);
    if (fault) report(`room ${code}: the file "${file.name}" ${fault}`);
  }
  return record.files;
}

/** Ignores the trusted clients, which only affect lockouts. */
export function differenceOf(record: RoomRecord, there: RoomRecord | undefined): string | undefined {
  if (!there) return 'is missing at the target';
  const isSame = (...parts: (keyof RoomRecord)[]) =>
    parts.every((part) => isDeepStrictEqual(record[part], there[part]));
  if (!isSame('createdAt', 'expiresAt', 'pinMac', 'salt')) return 'another room has this code at the target';
  if (record.content.content !== there.content.content) return 'its text differs';
  if (!isSame('files')) return 'its files differ';
  if (!isSame('history', 'keepsHistory')) return 'its history differs';
  if (!isSame('seq', 'content', 'fullTextVersion', 'entries', 'pinAttempts', 'owner', 'name'))
    return 'it was changed on one side';
  return undefined;
}

async function faultOf(
  from: BlobStore,
  to: BlobStore,
  { blob, size }: StoredFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [here, there] = await Promise.all([digestOf(from, blob, signal), digestOf(to, blob, signal)]);
  if (here?.size !== size) return 'is missing or damaged at the source';
  if (!there) return 'is missing at the target';
  return here.hash === there.hash ? undefined : 'differs at the target';
}

async function digestOf(blobs: BlobStore, blob: string, signal: AbortSignal) {
  const bytes = await blobs.open(blob, undefined);
  if (!bytes) return undefined;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { hash: hash.digest('hex'), size };
}
