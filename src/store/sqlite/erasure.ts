/**
 * Erases deleted text from the database files. SQLite overwrites it in its pages (`secure_delete`), but the WAL has
 * earlier copies of these pages, and their free space may contain copies of rows. So the WAL is checkpointed into the
 * database file and truncated, and such free space is overwritten.
 */
import type { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './connection.ts';
import { createLogScan } from './log-scan.ts';
import { layoutOf, overwriteStale, scanDatabase } from './stale-bytes.ts';

/** In pages. The write that exceeds it checkpoints the WAL. */
const longestLog = 2000;
/** The length of the WAL is checked after this many commits or bytes of text. */
const writesPerCheck = 32;
const bytesPerCheck = 64 * 1024;
/** How long to wait for a reader in another process. Writes wait as long. */
const readerTimeoutMs = 50;

export interface DatabaseFile {
  path: string;
  /** Stays open as long as any connection of this process: closing it would release SQLite's locks on the file. */
  descriptor: number;
}

export interface Eraser {
  /** Makes the next erasure scan the whole file, because the WAL does not show all changes. */
  requireWholeScan(): void;
  /** Not in a transaction. False if another process reads for longer; the next call erases the rest. */
  erase(timeoutMs?: number): boolean;
  /**
   * Call this after each write. Checkpoints a long WAL, which SQLite then overwrites from its start. That is cheaper
   * than truncating it, because each write would have to extend it again.
   */
  checkpointIfLong(textBytes: number): void;
}

export function createEraser(db: DatabaseSync, { path, descriptor }: DatabaseFile): Eraser {
  const layout = layoutOf(db);
  const log = createLogScan(`${path}-wal`, layout);
  const dataVersion = db.prepare('PRAGMA data_version');
  /** Changes when another process writes. */
  const foreignVersion = () => Number(dataVersion.get()?.data_version);

  /** Pages whose free space must be overwritten. */
  let stale = new Set<number>();
  let isWholeScanDue = false;
  let seenVersion = foreignVersion();
  let checksDue = 0;

  function erase(timeoutMs = readerTimeoutMs): boolean {
    // Another process may write after the scan of the WAL, or truncate it before.
    isWholeScanDue ||= foreignVersion() !== seenVersion;
    if (log.isEmpty() && stale.size === 0 && !isWholeScanDue) return true;
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

  function overwrite(): boolean {
    db.exec('BEGIN IMMEDIATE');
    try {
      // No one else writes now. With an empty WAL, the file has the newest copy of each page.
      if (!log.isEmpty()) return false;
      overwriteStale(descriptor, layout, stale);
    } finally {
      db.exec('ROLLBACK');
    }
    // Otherwise this connection would write its own copies of these pages again.
    db.exec('PRAGMA shrink_memory');
    return true;
  }

  return {
    requireWholeScan() {
      isWholeScanDue = true;
    },

    erase,

    checkpointIfLong(textBytes) {
      checksDue += 1 / writesPerCheck + textBytes / bytesPerCheck;
      if (checksDue < 1) return;
      checksDue = 0;
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
