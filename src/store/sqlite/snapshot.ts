/**
 * Reads that share one look at the database. Each on its own has SQLite lock the file and unlock it again, which takes
 * a quarter of the time of a read of one row.
 *
 * Never while a write is under way: what was answered must be seen, and a look that lasts would keep SQLite from
 * starting its log anew. Never for long: another process may write too (`poproom keys`).
 */
import type { DatabaseSync } from 'node:sqlite';

const longestMs = 100;

export interface ReadSnapshot {
  /** Before a read: it may share its look with those after it. */
  beginSharedRead(): void;
  /** Reads as of one moment. */
  within<T>(read: () => T): T;
  /** For a write that begins, until the one for its end. */
  suspend(): void;
  resume(): void;
}

export function createSnapshot(db: DatabaseSync): ReadSnapshot {
  // Run by `get`: `run` returns the id of the last row, here one that a migration inserted, and throws where that is
  // larger than a JavaScript number.
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let suspended = false;
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    // An error of the disk may have ended it, and a write that comes too late finds no database.
    if (db.isOpen && db.isTransaction) commit.get();
  }

  return {
    beginSharedRead() {
      if (suspended || timer) return;
      begin.get();
      timer = setTimeout(end, longestMs);
      timer.unref();
    },

    within(read) {
      end();
      begin.get();
      try {
        return read();
      } finally {
        end();
      }
    },

    suspend() {
      end();
      suspended = true;
    },

    resume() {
      suspended = false;
    },
  };
}
