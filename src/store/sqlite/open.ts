/**
 * The embedded engine: rooms, counters and keys in one SQLite file.
 *
 * Reads run on this thread with their own connection, and never wait for a write (WAL). Writes run on the writer
 * thread. Counters are in memory, which is exact because one process owns the folder.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
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
import { type CounterTable, createRateCounter, keepCounters } from './counters.ts';
import {
  connect,
  createPrivateFile,
  createSnapshot,
  databaseIn,
  lockFolder,
  type ReadSnapshot,
  sqliteBusy,
} from './database.ts';
import { createEraser, type DatabaseFile } from './erasure.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createKeyStore, createSecretRecord } from './keys.ts';
import { operations } from './operations.ts';
import { createStorage } from './quota.ts';
import { createRoomStores } from './rooms.ts';
import { compact, migrate } from './schema.ts';
import { createWebhookStore } from './webhooks.ts';
import {
  createWriter,
  sqliteFull,
  storageFull,
  eraseEveryMs as usualEraseEveryMs,
  type Writer,
  watchDisk,
} from './writer.ts';

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
  const { db, snapshot, writer, close } = openOr(unlock, folder, eraseEveryMs);
  const rates = createRateCounter(rules);
  const attempts = db.prepare('SELECT pin_attempts FROM rooms WHERE id = ?');
  const guard = createGuessGuard(rules, (code) => Number(attempts.get(roomIdOf(code))?.pin_attempts ?? 0));
  const tables = [rates.table, ...guard.tables] as unknown as CounterTable<never>[];
  const counters = keepCounters(db, writer, tables, now);
  const storage = createStorage(db, writer);
  const ping = db.prepare('SELECT 1 FROM room_count');
  const hasSpaceFor = watchDisk(db, databaseIn(folder));

  return {
    ...createRoomStores({ db, snapshot, writer, rules, guard, storage, dropCounters: counters.dropExpired }),
    rates,
    keys: createKeyStore(db, snapshot, writer),
    archive: createArchive({ db, snapshot, writer, guard }),
    storage,
    idempotency: createIdempotencyStore(db),
    secretRecord: createSecretRecord(db, snapshot, writer),
    summaries: createRoomSummaries(db),
    blocks: createBlockStore(db, writer),
    reports: createReportStore(db, writer),
    activity: createActivityStore(db, writer),
    webhooks: createWebhookStore(db, writer),
    inbox: createOperatorInbox(db, writer),
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
  const { db, snapshot, writer, close } = open(makeFolder(folder), usualEraseEveryMs);
  return { ...createKeyStore(db, snapshot, writer), close };
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

interface Opened {
  db: DatabaseSync;
  snapshot: ReadSnapshot;
  writer: Writer;
  close(): Promise<void>;
}

/** A failed start releases the folder. */
function openOr(unlock: () => void, folder: string, eraseEveryMs: number): Opened {
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
  try {
    compact(db, resolve(folder));
  } catch (error) {
    // No space for a second copy, or another process is writing. The next start tries again.
    if (![sqliteFull, sqliteBusy].includes((error as { errcode: number }).errcode & 0xff)) throw error;
  }
  const eraser = createEraser(db, file);
  if (hasLog) eraser.requireWholeScan();
  return eraser.erase();
}

function open(folder: string, eraseEveryMs: number, prepare: typeof eraseFormer = () => true): Opened {
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
    migrate(db);
    isLogTrusted = prepare(db, { ...file, folder, hasLog });
  } catch (error) {
    closeAll();
    throw error;
  }
  // From now on this connection only reads, because a write would block the event loop.
  db.exec('PRAGMA query_only = ON');
  const snapshot = createSnapshot(db);
  const writer = createWriter({ file, operations, isLogTrusted, snapshot, eraseEveryMs });
  return {
    db,
    snapshot,
    writer,
    close: () =>
      writer.close().finally(() => {
        snapshot.suspend();
        closeAll();
      }),
  };
}
