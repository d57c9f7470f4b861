/**
 * Erases deleted text from the database files. SQLite overwrites it in its pages (`secure_delete`), but the WAL has
 * earlier copies of these pages, and their free space may contain copies of rows. So the WAL is checkpointed into the
 * database file and truncated, and such free space is overwritten.
 */

import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './database.ts';

/** In pages. The write that exceeds it checkpoints the WAL. */
const longestLog = 2000;
/** How long to wait for a reader in another process. Writes wait as long. */
const readerTimeoutMs = 50;

export interface DatabaseFile {
  path: string;
  /** Stays open as long as any connection of this process: closing it would release SQLite's locks on the file. */
  descriptor: number;
}

export function createEraser(db: DatabaseSync, { path, descriptor }: DatabaseFile) {
  const layout = layoutOf(db);
  const log = createLogScan(`${path}-wal`, layout);
  const dataVersion = db.prepare('PRAGMA data_version');
  /** Changes when another process writes. */
  const foreignVersion = () => Number(dataVersion.get()?.data_version);

  /** Pages whose free space must be overwritten. */
  let stale = new Set<number>();
  let isWholeScanDue = false;
  let seenVersion = foreignVersion();

  /** Not in a transaction. False if another process reads for longer; the next call erases the rest. */
  function erase(timeoutMs = readerTimeoutMs): boolean {
    // Another process may write after the scan of the WAL, or truncate it before.
    isWholeScanDue ||= foreignVersion() !== seenVersion;
    if (log.isEmpty() && stale.size === 0 && !isWholeScanDue) return log.size() === 0 || emptyLog(db, timeoutMs);
    log.scan(stale);
    if (!emptyLog(db, timeoutMs)) return false;
    const version = foreignVersion();
    if (isWholeScanDue || version !== seenVersion) stale = scanDatabase(descriptor, layout);
    if (stale.size > 0 && !overwrite()) return false;
    stale = new Set();
    isWholeScanDue = false;
    seenVersion = version;
    return true;
  }

  /** Runs `work` while no one else writes, and only if the WAL is empty. */
  function withEmptyLog(work: () => void): boolean {
    db.exec('BEGIN IMMEDIATE');
    try {
      if (!log.isEmpty()) return false;
      work();
      return true;
    } finally {
      db.exec('ROLLBACK');
    }
  }

  function overwrite(): boolean {
    // With an empty WAL, the file has the newest copy of each page.
    if (!withEmptyLog(() => overwriteStale(descriptor, layout, stale))) return false;
    // Otherwise this connection would write its own copies of these pages again.
    db.exec('PRAGMA shrink_memory');
    return true;
  }

  return {
    erase,

    /**
     * Fills the WAL with zeros after an erasure, as far as it was used before. SQLite treats it as empty. A commit that
     * extends a file takes a third longer. If nothing is written until the next erasure, that one truncates it.
     */
    reserveLog: () => withEmptyLog(log.fill),

    /** Makes the next erasure scan the whole file, because the WAL does not show all changes. */
    requireWholeScan(): void {
      isWholeScanDue = true;
    },

    /**
     * Call this after some writes. Checkpoints a long WAL, which SQLite then overwrites from its start. That is cheaper
     * than truncating it, because each write would have to extend it again.
     */
    checkpointIfLong(): void {
      // A reader may keep SQLite from restarting the WAL. Then it is still long, and the next check tries again.
      if (!log.isLongerThan(longestLog)) return;
      log.scan(stale);
      db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    },
  };
}

function emptyLog(db: DatabaseSync, timeoutMs: number): boolean {
  db.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/** The database shrinks if it has more free pages than this, and more than a quarter of all pages is free. */
const fewestFree = 1024;
const freeShare = 0.25;
/** The next rooms use these. */
const keptFree = 256;
const pagesPerStep = 64;
const longestMs = 20;

/**
 * Returns free pages to the disk after many rooms have ended. It moves pages from the end of the file to free ones, in
 * short steps, because writes wait for each of them. The next checkpoint truncates the file. Call the result outside a
 * transaction; it returns whether there is more to do.
 */
export function createShrinker(db: DatabaseSync): () => boolean {
  const [freePages, allPages] = [db.prepare('PRAGMA freelist_count'), db.prepare('PRAGMA page_count')];
  const free = () => Number(freePages.get()?.freelist_count);
  const all = () => Number(allPages.get()?.page_count);
  let isShrinking = false;

  function isDue(): boolean {
    const count = free();
    return isShrinking ? count > keptFree : count > fewestFree && count > freeShare * all();
  }

  return () => {
    const before = all();
    const until = performance.now() + longestMs;
    // At least one step, even if the thread was preempted for the whole time.
    do {
      isShrinking = isDue();
      if (!isShrinking) return false;
      db.exec(`PRAGMA incremental_vacuum(${pagesPerStep})`);
    } while (performance.now() < until);
    // A database of an earlier version that had no space for its VACUUM cannot shrink.
    isShrinking = all() < before;
    return isShrinking;
  };
}

/** The offset of the cell pointers by page type: interior and leaf pages of indexes and tables. */
const pointersAt: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
/** Precedes the header of the first page. */
const fileHeader = 100;
/**
 * Other pages start with a page number. Its first byte is smaller than any page type as long as there are fewer pages
 * than this (64 GiB).
 */
const maxPages = 2 ** 25;

const zeros = Buffer.alloc(65_536);
/** A page of memory. Linux keeps longer writes as one piece, and each commit would write all of it again. */
const fillBytes = 4096;
/** Small enough for the cache of a core. */
const scanChunkBytes = 256 * 1024;

type PageLayout = ReturnType<typeof layoutOf>;

/** SQLite locks bytes of this page and never uses it. */
const lockByte = 0x4000_0000;
const pointerBytes = 5;

function layoutOf(db: DatabaseSync) {
  const size = Number(db.prepare('PRAGMA page_size').get()?.page_size);
  const hasPointerMaps = Number(db.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum) !== 0;
  const pagesPerMap = Math.floor(size / pointerBytes) + 1;
  const lockPage = lockByte / size + 1;
  return {
    size,
    /** A database that can shrink has pages that only say where others are referenced. They may look like other pages. */
    isPointerMap(number: number): boolean {
      if (!hasPointerMaps || number < 2) return false;
      const first = number - ((number - 2) % pagesPerMap);
      return number === (first === lockPage ? first + 1 : first);
    },
  };
}

/** The free space of the page, if it contains non-zero bytes. */
function staleRange(page: Buffer, number: number, { isPointerMap }: PageLayout) {
  if (isPointerMap(number)) return undefined;
  const header = number === 1 ? fileHeader : 0;
  const pointers = pointersAt[page[header] ?? 0];
  if (pointers === undefined) return undefined;
  const from = header + pointers + 2 * page.readUInt16BE(header + 3);
  const to = page.readUInt16BE(header + 5) || 65_536;
  if (from >= to || to > page.length) return undefined;
  return page.compare(zeros, 0, to - from, from, to) === 0 ? undefined : { from, to };
}

/**
 * Finds and overwrites bytes of a database file that belong to no row. SQLite overwrites deleted rows. But when it
 * splits a full page, it may leave copies of rows in the free space between the cell pointers and the cells. They
 * would remain after the rows are deleted.
 *
 * The layout of pages is in https://sqlite.org/fileformat2.html
 */
function scanDatabase(file: number, layout: PageLayout): Set<number> {
  const stale = new Set<number>();
  for (const { piece: page, index } of pieces(file, 0, layout.size)) {
    if (staleRange(page, index + 1, layout)) stale.add(index + 1);
  }
  return stale;
}

/** The caller ensures that the file has the newest copy of each page, and that no one writes. */
function overwriteStale(file: number, layout: PageLayout, pages: Iterable<number>): void {
  if (fstatSync(file).size / layout.size >= maxPages) return;
  for (const number of pages) {
    const start = (number - 1) * layout.size;
    const range = staleRange(read(file, start, layout.size), number, layout);
    if (range) writeSync(file, zeros, 0, range.to - range.from, start + range.from);
  }
  fdatasyncSync(file);
}

/** Reads pieces of equal size up to the end of the file. A piece is valid until the next one. */
function* pieces(file: number, start: number, size: number): Generator<{ piece: Buffer; index: number }> {
  const length = Math.max(1, Math.floor(scanChunkBytes / size)) * size;
  const buffer = Buffer.allocUnsafe(length);
  for (let [position, index] = [start, 0]; ; position += length) {
    const chunk = buffer.subarray(0, readSync(file, buffer, 0, length, position));
    for (let at = 0; at + size <= chunk.length; at += size)
      yield { piece: chunk.subarray(at, at + size), index: index++ };
    if (chunk.length < length) return;
  }
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

const header = { size: 32, saltAt: 16 };
const frameHeader = { size: 24, saltAt: 8 };
const saltSize = 8;

/**
 * Finds pages with stale bytes in SQLite's WAL, frame by frame as it grows. After a checkpoint, the WAL is overwritten
 * from its start with another salt; frames with the previous salt may follow.
 *
 * The layout is in https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
function createLogScan(path: string, layout: PageLayout) {
  const frameSize = frameHeader.size + layout.size;
  const positionOf = (frame: number) => header.size + frame * frameSize;
  let salt: Buffer = Buffer.alloc(saltSize);
  let scanned = 0;
  let longest = 0;

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

  /** False for a frame of zeros. */
  const isCurrent = (frame: Buffer) =>
    frame.length >= frameHeader.size &&
    frame.readUInt32BE(0) > 0 &&
    frame.compare(salt, 0, saltSize, frameHeader.saltAt, frameHeader.saltAt + saltSize) === 0;

  return {
    /** Whether it has no commit. SQLite writes the header with the first one. */
    isEmpty: () => within(true, (file) => read(file, 0, header.size).every((byte) => byte === 0)),

    size: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,

    fill(): void {
      const file = openSync(path, 'r+');
      const length = positionOf(Math.min(longest, longestLog));
      try {
        for (let at = 0; at < length; at += fillBytes) writeSync(file, zeros, 0, fillBytes, at);
        fdatasyncSync(file);
      } finally {
        closeSync(file);
        longest = 0;
      }
    },

    isLongerThan: (frames: number) =>
      within(false, (file) => isCurrent(read(file, positionOf(frames), frameHeader.size))),

    /** Scans new frames. Adds pages with stale bytes, and removes those whose newest copy has none. */
    scan: (stale: Set<number>) =>
      within(undefined, (file) => {
        for (const { piece: frame } of pieces(file, positionOf(scanned), frameSize)) {
          if (!isCurrent(frame)) return;
          const page = frame.readUInt32BE(0);
          if (staleRange(frame.subarray(frameHeader.size), page, layout)) stale.add(page);
          else stale.delete(page);
          scanned += 1;
          longest = Math.max(longest, scanned);
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
