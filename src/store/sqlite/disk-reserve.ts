/**
 * Keeps some of the disk for making room. Ending a room is written to SQLite's log first; on a disk that texts have
 * filled to the last byte that is refused too, and nothing would ever get better by itself.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Batch, type Operation, textsIn } from './writer.ts';

const reserve = 64 * 1024 * 1024;
/** In the log, in the file that it is carried over to, and for what both have beside the text. */
const copies = 3;
const growing: readonly string[] = ['createRoom', 'appendText', 'addFile', 'restoreRoom'];

export const grows = ([name]: Operation): boolean => growing.includes(name);

/** Whether so many more bytes of texts leave the reserve alone. */
export function watchDisk(db: DatabaseSync, path: string): (bytes: number) => boolean {
  const folder = dirname(path);
  const [pageSize, unusedPages] = [db.prepare('PRAGMA page_size'), db.prepare('PRAGMA freelist_count')];
  const unusedInside = () => Number(unusedPages.get()?.freelist_count) * Number(pageSize.get()?.page_size);

  return (bytes) => {
    const left = freeIn(folder) - reserve - copies * bytes;
    return left >= 0 || left + unusedInside() >= 0;
  };
}

/** A disk that does not say how full it is decides by itself. */
function freeIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export function bytesAddedBy(batch: Batch): number {
  const texts = batch.filter(grows).flatMap(textsIn);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
