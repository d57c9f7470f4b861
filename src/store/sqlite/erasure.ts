/**
 * Makes deleted text leave the files of the database. SQLite overwrites it in its pages (`secure_delete`), but the log
 * has earlier copies of these pages, and their free space may have copies of rows. So the log is carried over into the
 * database file and emptied, and such free space is overwritten.
 */
import type { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './connection.ts';
import { createLogScan } from './log-scan.ts';
import { overwriteStale, scanDatabase } from './stale-bytes.ts';

/** In pages. A longer log is carried over by the write that made it so long. */
const longestLog = 2000;
/** So often the length of the log is looked at: after so many commits, or after some with so many bytes of text. */
const writesPerLook = 32;
const bytesPerLook = 64 * 1024;
/** For a reader in another process to finish. Writes wait as long. */
const readerPatienceMs = 50;

export interface DatabaseFile {
  path: string;
  /** Stays open as long as any connection of this process: closing it gives up the locks that SQLite has on the file. */
  descriptor: number;
}

export interface Eraser {
  /** The next time scans the whole file, since what is known from the log is not all of it. */
  distrustLog(): void;
  /** Not in a transaction. False where another process reads for longer than that: the next time does what is left. */
  erase(patienceMs?: number): boolean;
  /**
   * To be called after each write. Carries a long log over, which SQLite then writes from its beginning again: that is
   * cheaper than to empty it, after which each write has to extend it.
   */
  carryOverIfLong(textBytes: number): void;
}

export function createEraser(db: DatabaseSync, { path, descriptor }: DatabaseFile): Eraser {
  const pageSize = Number(db.prepare('PRAGMA page_size').get()?.page_size);
  const log = createLogScan(`${path}-wal`, pageSize);
  const dataVersion = db.prepare('PRAGMA data_version');
  /** Changes when another process writes. */
  const foreignVersion = () => Number(dataVersion.get()?.data_version);

  /** Pages whose free space has to be overwritten. */
  let stale = new Set<number>();
  let isWholeScanDue = false;
  let seenVersion = foreignVersion();
  let looksDue = 0;

  function erase(patienceMs = readerPatienceMs): boolean {
    // The other process may write after the scan of the log, or empty it before.
    isWholeScanDue ||= foreignVersion() !== seenVersion;
    if (log.isEmpty() && stale.size === 0 && !isWholeScanDue) return true;
    log.scan(stale);
    if (!emptyLog(db, patienceMs)) return false;
    const version = foreignVersion();
    if (isWholeScanDue || version !== seenVersion) stale = scanDatabase(descriptor, pageSize);
    if (stale.size > 0 && !overwrite()) return false;
    stale = new Set();
    isWholeScanDue = false;
    seenVersion = version;
    return true;
  }

  function overwrite(): boolean {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Nobody else writes now; with an empty log, the file has the newest copy of each page.
      if (!log.isEmpty()) return false;
      overwriteStale(descriptor, pageSize, stale);
    } finally {
      db.exec('ROLLBACK');
    }
    // Otherwise this connection would write its own copies of these pages again.
    db.exec('PRAGMA shrink_memory');
    return true;
  }

  return {
    distrustLog() {
      isWholeScanDue = true;
    },

    erase,

    carryOverIfLong(textBytes) {
      looksDue += 1 / writesPerLook + textBytes / bytesPerLook;
      if (looksDue < 1) return;
      looksDue = 0;
      // A reader may keep SQLite from starting the log again. Then it is still long, and the next look tries once more.
      if (!log.isLongerThan(longestLog)) return;
      log.scan(stale);
      db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    },
  };
}

function emptyLog(db: DatabaseSync, patienceMs: number): boolean {
  db.exec(`PRAGMA busy_timeout = ${patienceMs}`);
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}
