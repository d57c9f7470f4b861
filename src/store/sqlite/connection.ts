/** Opens a connection with the settings of this engine. */
import { DatabaseSync } from 'node:sqlite';

/** Another process (`poproom keys`) may be writing. Its transactions are short. */
export const busyTimeoutMs = 5000;

export function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  // For a new database. An edit writes two pages to the WAL: with 4 KiB, half of the bytes would be padding.
  db.exec('PRAGMA page_size = 2048');
  // For a new database, or from the next VACUUM on: shrinking.ts returns free pages to the disk. To set it again would
  // be a write.
  if (db.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // 0: erasure.ts empties the WAL. ON: deleted rows and freed pages are overwritten.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON');
  // FULL: an acknowledged write is on disk. MEMORY: no page is copied to a temporary file elsewhere.
  db.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY');
  return db;
}
