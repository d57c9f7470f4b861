/** Checks the integrity of a database and its stored totals. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Call this while a server runs, so that the server has done the recovery. */
export function assertIntact(folder: string): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'), { readOnly: true, timeout: 5000 });
  try {
    assert.deepEqual(values(db, 'PRAGMA integrity_check'), ['ok']);
    assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), []);
    assert.deepEqual(values(db, 'SELECT total - (SELECT count(*) FROM rooms) FROM room_count'), [0]);
    assert.deepEqual(db.prepare(wrongTotals).all(), []);
  } finally {
    db.close();
  }
}

const wrongTotals = `
  SELECT code FROM rooms LEFT JOIN files ON room = rooms.id GROUP BY rooms.id
  HAVING file_count <> count(files.id) OR file_bytes <> coalesce(sum(files.size), 0)
`;

function values(db: DatabaseSync, query: string): unknown[] {
  return db
    .prepare(query)
    .all()
    .flatMap((row) => Object.values(row));
}
