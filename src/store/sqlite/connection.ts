/** Opens a connection the way every part of this engine needs it. */
import { DatabaseSync } from 'node:sqlite';

/** Another process (`poproom keys`) may be writing; its transactions are short. */
export const busyTimeoutMs = 5000;

export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  // Of a new database. An edit writes two pages to the log of SQLite: with 4 KiB, half of the bytes would be padding.
  db.exec('PRAGMA page_size = 2048');
  // 0: the log is emptied by erasure.ts. ON: deleted rows and freed pages are overwritten.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON');
  // FULL: an answered write is on the disk. MEMORY: no copy of a page gets into a temporary file elsewhere.
  db.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY');
  return db;
}
