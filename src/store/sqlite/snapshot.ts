/**
 * Lets reads share one transaction. On its own, each read makes SQLite lock and unlock the file, which takes a quarter
 * of the time of a read of one row.
 *
 * Never during a write: reads must see acknowledged writes, and a long transaction would keep SQLite from restarting
 * its WAL. Never for long: another process may write too (`poproom keys`).
 */
import type { DatabaseSync } from 'node:sqlite';

const longestMs = 100;

export interface ReadSnapshot {
  /** Call this before a read. It may share its transaction with later reads. */
  beginSharedRead(): void;
  /** Reads in one transaction. */
  within<T>(read: () => T): T;
  /** Call these at the start and at the end of a write. */
  suspend(): void;
  resume(): void;
}

export function createSnapshot(db: DatabaseSync): ReadSnapshot {
  // Uses `get`: `run` returns the id of the last inserted row, and throws if it does not fit into a JavaScript
  // number.
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let suspended = false;
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    // A disk error may have ended the transaction, or the database may be closed already.
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
