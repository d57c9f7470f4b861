/** Inspects the database of the embedded engine without creating files, copies it, and checks a copy. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { busyTimeoutMs, createPrivateFile, databaseIn, prepareOnce } from './database.ts';
import { dropFiles } from './files.ts';
import { isCompacted, schemaStateOf } from './schema.ts';

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

interface CopiedFile {
  blob: string;
  size: number;
}

export interface DatabaseCopy {
  /** The state of its schema, compared with that of this version. */
  schema: ReturnType<typeof schemaStateOf>;
  rooms: number;
  keys: number;
  /** Complete files, one after the other, so that their number does not matter. */
  files(): Iterable<CopiedFile>;
  /** Sum of the sizes of these files. */
  fileBytes(): number;
  /** Whether SQLite finds no damage. */
  isIntact(): boolean;
  /** Removes a file whose bytes are gone. */
  drop(blob: string): void;
  close(): void;
}

/** One transaction reads everything, and does not block the writes of a server. Deleted data is not copied. */
export function copyDatabase(from: string, to: string): void {
  createPrivateFile(to);
  const db = new DatabaseSync(from, { timeout: busyTimeoutMs });
  try {
    db.prepare('VACUUM INTO ?').get(to);
  } finally {
    db.close();
  }
}

export function openCopy(path: string): DatabaseCopy {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  const sql = prepareOnce(db);
  const count = (what: string) => Number(sql(`SELECT count(*) AS n FROM ${what}`).get()?.n);
  const complete = 'FROM files WHERE received IS NULL';
  return {
    schema: schemaStateOf(db),
    rooms: count('rooms'),
    keys: count('api_keys WHERE revoked_at IS NULL'),
    files: () => db.prepare(`SELECT blob, size ${complete}`).iterate() as unknown as Iterable<CopiedFile>,
    fileBytes: () => Number(sql(`SELECT coalesce(sum(size), 0) AS bytes ${complete}`).get()?.bytes),
    isIntact: () => sql('PRAGMA quick_check(1)').get()?.quick_check === 'ok',
    drop: (blob) => void dropFiles(sql, 'blob = ?', blob),
    close: () => db.close(),
  };
}

/** The bytes of unfinished uploads are not part of a copy. */
export function dropUnfinished(path: string): void {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  try {
    dropFiles(prepareOnce(db), 'received IS NOT NULL');
  } finally {
    db.close();
  }
}
