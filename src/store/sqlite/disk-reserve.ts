/**
 * Reserves disk space for deletions. Ending a room is first written to the WAL, which fails on a completely full disk,
 * so that the server could never free space again.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { RoomCode } from '../../core/room-code.ts';
import type { AppendTexts } from './text-operations.ts';
import { type Batch, type Operation, textsIn } from './writer.ts';

const reserve = 64 * 1024 * 1024;
/** One in the WAL, one in the database file, and one for the overhead of both. */
const copies = 3;
const growing: readonly string[] = [
  'createRoom',
  'updateRoom',
  'appendText',
  'compactText',
  'addFile',
  'startUpload',
  'advanceUpload',
  'restoreRoom',
];

export const grows = ([name]: Operation): boolean => growing.includes(name);

/** Returns a function that tells whether this many bytes of texts fit without using the reserve. */
export function watchDisk(db: DatabaseSync, path: string): (bytes: number) => boolean {
  const folder = dirname(path);
  const [pageSize, unusedPages] = [db.prepare('PRAGMA page_size'), db.prepare('PRAGMA freelist_count')];
  const unusedInside = () => Number(unusedPages.get()?.freelist_count) * Number(pageSize.get()?.page_size);

  return (bytes) => {
    const left = freeIn(folder) - reserve - copies * bytes;
    return left >= 0 || left + unusedInside() >= 0;
  };
}

/** Without a known size there is no reserve. Writes fail when the disk is full. */
function freeIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export function bytesAddedBy(batch: Batch): number {
  const operations = batch.filter(grows);
  const sent = operations.flatMap(textsIn).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return operations.reduce((sum, operation) => sum + copiedBy(operation), sent);
}

/** The size of a checkpoint that the writer copies. */
function copiedBy(operation: Operation): number {
  if (operation[0] !== 'appendText') return 0;
  const checkpoint = (operation as [string, RoomCode, ...AppendTexts])[4]?.checkpoint;
  return checkpoint && checkpoint.content === undefined ? checkpoint.size : 0;
}
