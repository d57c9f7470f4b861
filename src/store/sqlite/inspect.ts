/** Inspects the database of the embedded engine without creating files. A server may be running. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { databaseIn } from './private-file.ts';
import { isCompacted } from './schema.ts';

export interface DatabaseFacts {
  /** Problems that SQLite reports. */
  damage: readonly string[];
  rooms: number;
  keysInForce: number;
  /** Bytes of all files. */
  storedBytes: number;
  /** Whether it contains nothing that an earlier version deleted. */
  isCompacted: boolean;
}

/** Undefined if there is no database yet; `unread` if reading it would create a file. */
export function inspectDatabase(folder: string): DatabaseFacts | 'unread' | undefined {
  const path = databaseIn(folder);
  if (!existsSync(path)) return undefined;
  const hasLog = existsSync(`${path}-wal`);
  if (hasLog && !existsSync(`${path}-shm`)) return 'unread';
  const location = pathToFileURL(path);
  // No process has it open. A normal open would create a WAL, which a read-only connection cannot remove.
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
  const results = db.prepare('PRAGMA quick_check(3)').all();
  const damage = results.map(({ quick_check }) => String(quick_check)).filter((verdict) => verdict !== 'ok');
  if (damage.length > 0) return { damage, rooms: 0, keysInForce: 0, storedBytes: 0, isCompacted: false };
  // Not from the usage table, which databases of earlier versions do not have.
  const storedBytes = Number(db.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM files').get()?.bytes);
  const keysInForce = count('api_keys WHERE revoked_at IS NULL');
  return { damage, rooms: count('rooms'), keysInForce, storedBytes, isCompacted: isCompacted(db) };
}
