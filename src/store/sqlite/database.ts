/** The database file: where it is, its lock, connections to it, prepared statements and shared reads. */
import type { timingSafeEqual } from 'node:crypto';
import { closeSync, fchmodSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { PoproomError } from '../../core/errors.ts';

/** Another process (`poproom keys`) may be writing. Its transactions are short. */
export const busyTimeoutMs = 5000;

/** Opens a connection with the settings of this engine. */
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

/** Without `run`, which returns the id of the last row and throws if it does not fit into a JavaScript number. */
export type Sql = (query: string) => Pick<StatementSync, 'get' | 'all' | 'iterate' | 'setReturnArrays'>;

/** Prepares statements on first use and keeps them. The number of queries is fixed. */
export function prepareOnce(db: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();
  return (query) => {
    const known = prepared.get(query);
    if (known) return known;
    const statement = db.prepare(query);
    prepared.set(query, statement);
    return statement;
  };
}

/** Inserts a row; undefined is NULL. It composes the query, so the most frequent writes have their own. */
export function insert(sql: Sql, table: string, row: Record<string, SQLInputValue | undefined>): void {
  const columns = Object.keys(row);
  const query = `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`;
  sql(query).get(...Object.values(row).map((value) => value ?? null));
}

export type Row = Record<string, unknown>;

/** A row whose columns have the names of the fields; NULL is undefined. */
export const fieldsOf = <T>(row: Row): T =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as T;

export const rowsOf = <T>(sql: Sql, query: string, ...values: SQLInputValue[]): T[] =>
  sql(query)
    .all(...values)
    .map(fieldsOf<T>);

const longestMs = 100;

export type ReadSnapshot = ReturnType<typeof createSnapshot>;

/**
 * Lets reads share one transaction. On its own, each read makes SQLite lock and unlock the file, which takes a quarter
 * of the time of a read of one row.
 *
 * Never during a write: reads must see acknowledged writes, and a long transaction would keep SQLite from restarting
 * its WAL. Never for long: another process may write too (`poproom keys`).
 */
export function createSnapshot(db: DatabaseSync) {
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  let suspended = false;
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    // A disk error may have ended the transaction, or the database may be closed already.
    if (db.isOpen && db.isTransaction) commit.get();
  }

  return {
    /** Call this before a read. It may share its transaction with later reads. */
    beginSharedRead(): void {
      if (suspended || timer) return;
      begin.get();
      timer = setTimeout(end, longestMs).unref();
    },

    within<T>(read: () => T): T {
      end();
      begin.get();
      try {
        return read();
      } finally {
        end();
      }
    },

    /** Call these at the start and at the end of a write. */
    suspend(): void {
      end();
      suspended = true;
    },
    resume(): void {
      suspended = false;
    },
  };
}

export class FolderInUse extends PoproomError {
  constructor(folder: string, cause: unknown) {
    super('UNAVAILABLE', `Another Poproom server is using the folder ${folder}.`, { cause });
  }
}

/**
 * Allows one server per folder: two would count separately, and every limit would apply twice.
 * It is SQLite's lock on an empty database, so the system releases it however the process ends.
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'server.lock');
  let lock: DatabaseSync | undefined;
  try {
    createPrivateFile(path);
    lock = new DatabaseSync(path);
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    throw isBusy(cause) ? new FolderInUse(folder, cause) : unusable(path, cause as Error);
  }
  return () => lock.close();
}

export const sqliteBusy = 5;
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy;

const unusable = (path: string, cause: Error) =>
  new PoproomError('UNAVAILABLE', `Cannot use the lock file ${path}: ${cause.message}.`, { cause });

/** The database file of a data folder, or the target of a link: SQLite has its log beside the target. */
export function databaseIn(folder: string): string {
  const path = join(folder, 'poproom.db');
  try {
    return realpathSync(path);
  } catch {
    return linkTarget(folder, path) ?? path;
  }
}

/** The target does not have to exist. */
function linkTarget(folder: string, path: string): string | undefined {
  try {
    return resolve(folder, readlinkSync(path));
  } catch {
    return undefined;
  }
}

/** Only its owner can open it, whatever the umask. SQLite uses the same mode for its WAL. */
export function createPrivateFile(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch {
    // An existing file is not opened here, because closing it would release SQLite's locks. If it cannot be created,
    // SQLite reports the reason.
  }
}

/**
 * In constant time. The lengths must be equal. Node's crypto is loaded with the first comparison: the writer thread
 * starts 15 ms earlier without it.
 */
export const isEqual: typeof timingSafeEqual = (a, b) => process.getBuiltinModule('node:crypto').timingSafeEqual(a, b);
