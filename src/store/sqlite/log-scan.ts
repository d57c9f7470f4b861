/**
 * Finds pages with stale bytes in SQLite's WAL, frame by frame as it grows. After a checkpoint, the WAL is overwritten
 * from its start with another salt; frames with the previous salt may follow.
 *
 * The layout is in https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, openSync, statSync } from 'node:fs';
import { type PageLayout, pieces, read, staleRange } from './stale-bytes.ts';

const header = { size: 32, saltAt: 16 };
const frameHeader = { size: 24, saltAt: 8 };
const saltSize = 8;

export interface LogScan {
  isEmpty(): boolean;
  isLongerThan(frames: number): boolean;
  /** Scans new frames. Adds pages with stale bytes, and removes those whose newest copy has none. */
  scan(stale: Set<number>): void;
}

export function createLogScan(path: string, layout: PageLayout): LogScan {
  const frameSize = frameHeader.size + layout.size;
  const positionOf = (frame: number) => header.size + frame * frameSize;
  let salt: Buffer = Buffer.alloc(saltSize);
  let scanned = 0;

  /** Opens the WAL and detects whether it was restarted. */
  function within<T>(otherwise: T, inspect: (file: number) => T): T {
    const file = openIfThere(path);
    if (file === undefined) return otherwise;
    try {
      const current = read(file, header.saltAt, saltSize);
      if (!current.equals(salt)) [salt, scanned] = [current, 0];
      return inspect(file);
    } finally {
      closeSync(file);
    }
  }

  const isCurrent = (frame: Buffer) =>
    frame.length >= frameHeader.size &&
    frame.compare(salt, 0, saltSize, frameHeader.saltAt, frameHeader.saltAt + saltSize) === 0;

  return {
    isEmpty: () => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0,

    isLongerThan: (frames) => within(false, (file) => isCurrent(read(file, positionOf(frames), frameHeader.size))),

    scan: (stale) =>
      within(undefined, (file) => {
        for (const { piece: frame } of pieces(file, positionOf(scanned), frameSize)) {
          if (!isCurrent(frame)) return;
          const page = frame.readUInt32BE(0);
          if (staleRange(frame.subarray(frameHeader.size), page, layout)) stale.add(page);
          else stale.delete(page);
          scanned += 1;
        }
      }),
  };
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
