/**
 * The embedded engine: rooms, counters and keys in one SQLite file. For commands, it can also be inspected without
 * creating files, or copied.
 *
 * Reads run on this thread with their own connection, and never wait for a write (WAL). Writes run on the writer
 * thread. Counters are in memory, which is exact because one process owns the folder.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { KeyStore } from '../../core/ports/clients.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { EngineParts, Store } from '../../core/ports/store.ts';
import { createGuessGuard } from './access.ts';
import {
  createActivityStore,
  createBlockStore,
  createOperatorInbox,
  createReportStore,
  createRoomSummaries,
} from './admin.ts';
import { createArchive } from './archive.ts';
import { roomIdOf } from './cache.ts';
import {
  type CounterTable,
  createKeyStore,
  createRateCounter,
  createSecretRecord,
  createStorage,
  keepCounters,
} from './clients.ts';
import {
  busyTimeoutMs,
  connect,
  createPrivateFile,
  createSnapshot,
  databaseIn,
  lockFolder,
  prepareOnce,
  sqliteBusy,
} from './database.ts';
import { createEraser, type DatabaseFile } from './erasure.ts';
import { dropFiles } from './files.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { operations } from './operations.ts';
import { createRoomStores } from './rooms.ts';
import { compact, isCompacted, migrate, schemaStateOf } from './schema.ts';
import { createWebhookStore } from './webhooks.ts';
import { createWriter, sqliteFull, storageFull, eraseEveryMs as usualEraseEveryMs, watchDisk } from './writer.ts';

export interface SqliteOptions {
  folder: string;
  rules: GuardRules;
  now: number;
  /** How often deleted text is erased from the files. */
  eraseEveryMs?: number | undefined;
}

type SqliteStore = Store & Required<Pick<EngineParts, 'inbox' | 'checkSpace'>>;

export function openSqliteStore({ folder, rules, now, eraseEveryMs = usualEraseEveryMs }: SqliteOptions): SqliteStore {
  const unlock = lockFolder(makeFolder(folder));
  const { close, ...database } = openOr(unlock, folder, eraseEveryMs);
  const { db, sql, writer } = database;
  const rates = createRateCounter(rules);
  const attempts = sql('SELECT pin_attempts FROM rooms WHERE id = ?');
  const guard = createGuessGuard(rules, (code) => Number(attempts.get(roomIdOf(code))?.pin_attempts ?? 0));
  const tables = [rates.table, ...guard.tables] as unknown as CounterTable<never>[];
  const counters = keepCounters(sql, writer, tables, now);
  const storage = createStorage(sql, writer);
  const ping = sql('SELECT 1 FROM room_count');
  const hasSpaceFor = watchDisk(db, databaseIn(folder));

  return {
    ...createRoomStores({ ...database, rules, guard, storage, dropCounters: counters.dropExpired }),
    rates,
    keys: createKeyStore(database),
    archive: createArchive(database, guard),
    storage,
    idempotency: createIdempotencyStore(sql),
    secretRecord: createSecretRecord(database),
    summaries: createRoomSummaries(sql),
    blocks: createBlockStore(sql, writer),
    reports: createReportStore(sql, writer),
    activity: createActivityStore(sql, writer),
    webhooks: createWebhookStore(sql, writer),
    inbox: createOperatorInbox(sql, writer),
    queueLength: writer.queueLength,
    async ping() {
      ping.get();
    },
    evictionPolicy: async () => 'noeviction',

    async checkSpace(bytes) {
      if (!hasSpaceFor(bytes)) throw storageFull();
    },
    // A failed write must not keep the thread running or the folder locked.
    close: () => counters.close().finally(close).finally(unlock),
  };
}

/** For the command line. A server may be running. */
export function openSqliteKeys(folder: string): KeyStore & { close(): Promise<void> } {
  const { close, ...database } = open(makeFolder(folder), usualEraseEveryMs);
  return { ...createKeyStore(database), close };
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A failed start releases the folder. */
function openOr(unlock: () => void, folder: string, eraseEveryMs: number) {
  try {
    return open(folder, eraseEveryMs, eraseFormer);
  } catch (error) {
    unlock();
    throw error;
  }
}

interface Former extends DatabaseFile {
  folder: string;
  /** Whether a WAL existed before opening: the last process crashed, or another one is running. */
  hasLog: boolean;
}

/** Erases what an earlier version deleted and what a crash left. False if something may remain. */
function eraseFormer(db: DatabaseSync, { folder, hasLog, ...file }: Former): boolean {
  ifPossible(() => compact(db, resolve(folder)));
  const eraser = createEraser(db, file);
  if (hasLog) eraser.requireWholeScan();
  return ifPossible(eraser.erase) ?? false;
}

/** Undefined if the disk is full or another process is writing. The next start or erasure tries again. */
function ifPossible<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (![sqliteFull, sqliteBusy].includes((error as { errcode: number }).errcode & 0xff)) throw error;
    return undefined;
  }
}

function open(folder: string, eraseEveryMs: number, prepare: typeof eraseFormer = () => true) {
  const path = databaseIn(folder);
  const hasLog = existsSync(`${path}-wal`);
  createPrivateFile(path);
  const db = connect(path);
  const file = { path, descriptor: openSync(path, 'r+') };
  const closeAll = () => {
    db.close();
    closeSync(file.descriptor);
  };
  let isLogTrusted: boolean;
  try {
    const isNew = migrate(db);
    isLogTrusted = (isNew && !hasLog) || prepare(db, { ...file, folder, hasLog });
  } catch (error) {
    closeAll();
    throw error;
  }
  // From now on this connection only reads, because a write would block the event loop.
  db.exec('PRAGMA query_only = ON');
  const snapshot = createSnapshot(db);
  const writer = createWriter({ file, operations, isLogTrusted, snapshot, eraseEveryMs });
  const close = () =>
    writer.close().finally(() => {
      snapshot.suspend();
      closeAll();
    });
  return { db, sql: prepareOnce(db), snapshot, writer, close };
}

export type DatabaseFacts = ReturnType<typeof factsOf>;

/** Undefined if there is no database yet; `unread` if reading it would create a file. */
export function inspectDatabase(folder: string): DatabaseFacts | 'unread' | undefined {
  const path = databaseIn(folder);
  if (!existsSync(path)) return undefined;
  const hasLog = existsSync(`${path}-wal`);
  if (hasLog && !existsSync(`${path}-shm`)) return 'unread';
  const location = pathToFileURL(path);
  // No process has it open. A normal open would create a WAL, which a read-only connection cannot remove.
  if (!hasLog) location.search = '?immutable=1';
  using db = new DatabaseSync(location, { readOnly: true, timeout: 5000 });
  return factsOf(db);
}

/** `damage`: the problems that SQLite reports. `isCompacted`: whether nothing is left that an earlier version deleted. */
function factsOf(db: DatabaseSync) {
  const count = (what: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${what}`).get()?.n);
  const results = db.prepare('PRAGMA quick_check(3)').all();
  const damage = results.map(({ quick_check }) => String(quick_check)).filter((verdict) => verdict !== 'ok');
  if (damage.length > 0) return { damage, rooms: 0, keysInForce: 0, storedBytes: 0, isCompacted: false };
  // Not from the usage table, which databases of earlier versions do not have.
  const storedBytes = Number(db.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM files').get()?.bytes);
  const keysInForce = count('api_keys WHERE revoked_at IS NULL');
  return { damage, rooms: count('rooms'), keysInForce, storedBytes, isCompacted: isCompacted(db) };
}

export type DatabaseCopy = ReturnType<typeof openCopy>;

/** One transaction reads everything, and does not block the writes of a server. Deleted data is not copied. */
export function copyDatabase(from: string, to: string): void {
  createPrivateFile(to);
  using db = new DatabaseSync(from, { timeout: busyTimeoutMs });
  db.prepare('VACUUM INTO ?').get(to);
}

export function openCopy(path: string) {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  const sql = prepareOnce(db);
  const count = (what: string) => Number(sql(`SELECT count(*) AS n FROM ${what}`).get()?.n);
  const complete = 'FROM files WHERE received IS NULL';
  return {
    schema: schemaStateOf(db),
    rooms: count('rooms'),
    keys: count('api_keys WHERE revoked_at IS NULL'),
    /** Complete files, one after the other, so that their number does not matter. */
    files: () =>
      db.prepare(`SELECT blob, size ${complete}`).iterate() as unknown as Iterable<{ blob: string; size: number }>,
    fileBytes: () => Number(sql(`SELECT coalesce(sum(size), 0) AS bytes ${complete}`).get()?.bytes),
    isIntact: () => sql('PRAGMA quick_check(1)').get()?.quick_check === 'ok',
    /** Removes a file whose bytes are gone. */
    drop: (blob: string) => void dropFiles(sql, 'blob = ?', blob),
    close: () => db.close(),
  };
}

/** The bytes of unfinished uploads are not part of a copy. */
export function dropUnfinished(path: string): void {
  using db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  dropFiles(prepareOnce(db), 'received IS NOT NULL');
}
