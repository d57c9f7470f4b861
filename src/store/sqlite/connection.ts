/** Opens a connection the way every part of this engine needs it. */
import { DatabaseSync } from 'node:sqlite';

/** Another process (`poproom keys`) may be writing; its transactions are short. */
const patience = 5000;

export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: patience, enableForeignKeyConstraints: true });
  // Of a new database. An edit writes two pages to the log of SQLite: with 4 KiB, half of the bytes would be padding.
  db.exec('PRAGMA page_size = 2048; PRAGMA wal_autocheckpoint = 2000');
  // FULL: an answered write is on the disk. FAST: what is deleted is overwritten where that costs no further write.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST');
  return db;
}
