/**
 * The embedded engine: rooms, counters and keys in one SQLite file.
 *
 * Reads run on this thread, on a connection of their own, and never wait for a write (WAL); writes go through the
 * writer's thread. Counters are decided in memory. That is exact because one process owns the folder.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { GuardRules, KeyStore, Store } from '../../core/ports.ts';
import { createArchive } from './archive.ts';
import { connect } from './connection.ts';
import { keepCounters } from './counters.ts';
import { watchDisk } from './disk-reserve.ts';
import { lockFolder } from './folder-lock.ts';
import { createGuessGuard } from './guess-guard.ts';
import { createKeyStore } from './key-store.ts';
import type { Ledger } from './ledger.ts';
import { createOperatorInbox } from './operator-inbox.ts';
import { createRateCounter } from './rate-counter.ts';
import { roomIdOf } from './room-id.ts';
import { createRoomStore } from './room-store.ts';
import { migrate } from './schema.ts';
import { createSnapshot, type Snapshot } from './snapshot.ts';
import { createStorage } from './storage.ts';
import { createWriter, storageFull, type Writer } from './writer.ts';

export interface SqliteOptions {
  folder: string;
  rules: GuardRules;
  now: number;
}

export function openSqliteStore({ folder, rules, now }: SqliteOptions): Store {
  const unlock = lockFolder(makeFolder(folder));
  const { db, snapshot, writer } = openOr(unlock, folder);
  const rates = createRateCounter(rules);
  const attempts = db.prepare('SELECT pin_attempts FROM rooms WHERE id = ?');
  const guard = createGuessGuard(rules, (code) => Number(attempts.get(roomIdOf(code))?.pin_attempts ?? 0));
  const ledgers = [rates.ledger, ...guard.ledgers] as unknown as Ledger<never>[];
  const counters = keepCounters(db, writer, ledgers, now);
  const storage = createStorage(db, writer);
  const ping = db.prepare('SELECT 1 FROM room_count');
  const hasRoomFor = watchDisk(db, pathIn(folder));

  return {
    rooms: createRoomStore({ db, snapshot, writer, rules, guard, storage, dropCounters: counters.dropExpired }),
    rates,
    keys: createKeyStore(db, writer),
    archive: createArchive({ db, snapshot, writer, guard }),
    storage,
    inbox: createOperatorInbox(db, writer),
    async ping() {
      ping.get();
    },
    async checkSpace(bytes) {
      if (!hasRoomFor(bytes)) throw storageFull();
    },
    // What cannot be written must not keep the thread, nor the folder.
    close: () =>
      counters
        .close()
        .finally(() => writer.close())
        .finally(() => {
          snapshot.suspend();
          db.close();
          unlock();
        }),
  };
}

/** For the command line, beside a server that runs. */
export function openSqliteKeys(folder: string): KeyStore & { close(): Promise<void> } {
  const { db, writer } = open(makeFolder(folder));
  return {
    ...createKeyStore(db, writer),
    close: () => writer.close().finally(() => db.close()),
  };
}

const pathIn = (folder: string) => join(folder, 'poproom.db');

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A start that fails leaves the folder free for the next. */
function openOr(unlock: () => void, folder: string): ReturnType<typeof open> {
  try {
    return open(folder);
  } catch (error) {
    unlock();
    throw error;
  }
}

function open(folder: string): { db: DatabaseSync; snapshot: Snapshot; writer: Writer } {
  const path = pathIn(folder);
  const db = connect(path);
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  // From here on this connection only reads: a write on it would make the event loop wait for the disk.
  db.exec('PRAGMA query_only = ON');
  const snapshot = createSnapshot(db);
  return { db, snapshot, writer: createWriter(path, snapshot) };
}
