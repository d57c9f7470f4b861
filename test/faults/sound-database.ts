/** Checks a database with SQLite itself, and its stored sums. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Beside a server that runs: it has to be the server that recovers from what it met. */
export function assertSound(folder: string): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true, timeout: 5000 });
  try {
    assert.deepEqual(values(db, 'PRAGMA integrity_check'), ['ok']);
    assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), []);
    assert.deepEqual(values(db, 'SELECT total - (SELECT count(*) FROM rooms) FROM room_count'), [0]);
    assert.deepEqual(db.prepare(wrongSums).all(), []);
  } finally {
    db.close();
  }
}

const wrongSums = `
  SELECT code FROM rooms LEFT JOIN files ON room = rooms.id GROUP BY rooms.id
  HAVING file_count <> count(files.id) OR file_bytes <> coalesce(sum(files.size), 0)
`;

function values(db: DatabaseSync, query: string): unknown[] {
  return db
    .prepare(query)
    .all()
    .flatMap((row) => Object.values(row));
}
