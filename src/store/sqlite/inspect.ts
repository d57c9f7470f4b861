/** Looks at the database of the embedded engine, beside a server that may be running. Nothing is made, nothing stays. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isCompacted } from './schema.ts';

export interface DatabaseFacts {
  /** What SQLite finds wrong with it. */
  damage: readonly string[];
  rooms: number;
  keysInForce: number;
  /** Bytes of all files. */
  storedBytes: number;
  /** Whether nothing is left in it of what an earlier version deleted. */
  isCompacted: boolean;
}

/** Undefined where there is none yet; `unread` where looking would make a file. */
export function inspectDatabase(folder: string): DatabaseFacts | 'unread' | undefined {
  const path = join(folder, 'poproom.db');
  if (!existsSync(path)) return undefined;
  const hasLog = existsSync(`${path}-wal`);
  if (hasLog && !existsSync(`${path}-shm`)) return 'unread';
  const location = pathToFileURL(path);
  // Nobody has it open. Opened as usual, it would get a log, and who only reads cannot remove it.
  if (!hasLog) location.search = '?immutable=1';
  const db = new DatabaseSync(location, { readOnly: true, timeout: 5000 });
  try {
    return factsOf(db);
  } finally {
    db.close();
  }
}

function factsOf(db: DatabaseSync): DatabaseFacts {
  const count = (what: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${what}`).get()?.n);
  const said = db.prepare('PRAGMA quick_check(3)').all();
  const damage = said.map(({ quick_check }) => String(quick_check)).filter((verdict) => verdict !== 'ok');
  if (damage.length > 0) return { damage, rooms: 0, keysInForce: 0, storedBytes: 0, isCompacted: false };
  // Not from the sums that are kept: a database of an earlier version has none.
  const storedBytes = Number(db.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM files').get()?.bytes);
  const keysInForce = count('api_keys WHERE revoked_at IS NULL');
  return { damage, rooms: count('rooms'), keysInForce, storedBytes, isCompacted: isCompacted(db) };
}
