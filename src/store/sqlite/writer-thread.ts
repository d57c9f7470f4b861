/** The writer thread: one transaction for all operations of a batch, so that they share one fsync. */
import { workerData } from 'node:worker_threads';
import type { RoomCode } from '../../core/room-code.ts';
import { busyTimeoutMs, connect, prepareOnce } from './database.ts';
import { createEraser, createShrinker } from './erasure.ts';
import { operations } from './operations.ts';
import {
  type AppendTexts,
  type Batch,
  type BatchReply,
  bytesAddedBy,
  grows,
  type Operation,
  sqliteFull,
  type ThreadData,
  type WriteError,
  watchDisk,
} from './writer.ts';

const { isLogTrusted, port, ...file } = workerData as ThreadData;
const db = connect(file.path);
const changes = operations as unknown as Record<string, (...args: unknown[]) => unknown>;
const sql = prepareOnce(db);
const hasSpaceFor = watchDisk(db, file.path);
const eraser = createEraser(db, file);
const shrink = createShrinker(db);
const transaction = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') };
if (!isLogTrusted) eraser.requireWholeScan();

port.on('message', (order: Batch | 'erase' | 'close') => {
  if (order === 'close') return close();
  port.postMessage(order === 'erase' ? erase() : write(order));
});

function erase(): 'erased' | 'shrinking' {
  const hasMore = ignoringErrors(shrink);
  const isErased = ignoringErrors(() => eraser.erase());
  if (isErased && !hasMore && commits >= manyCommits && hasSpaceFor(0)) ignoringErrors(eraser.reserveLog);
  commits = 0;
  return hasMore ? 'shrinking' : 'erased';
}

/** In the time between two erasures, 25 a second. For fewer, reserving space would only mean writing more. */
const manyCommits = 250;
let commits = 0;

function write(batch: Batch): BatchReply {
  commits += 1;
  const bytes = bytesAddedBy(batch);
  const fits = !batch.some(grows) || hasSpaceFor(bytes);
  const reply = fits ? commit(batch) : oneByOne(batch, aloneIfSmall);
  // Before the reply, because no read of this process is active until then.
  checkLog(bytes);
  return reply;
}

/** The length of the WAL is checked after this many commits or bytes of text. */
const writesPerCheck = 32;
const bytesPerCheck = 512 * 1024;
let checksDue = 0;

function checkLog(textBytes: number): void {
  checksDue += 1 / writesPerCheck + textBytes / bytesPerCheck;
  if (checksDue < 1) return;
  checksDue = 0;
  ignoringErrors(eraser.checkpointIfLong);
}

/** If the disk fails, the data stays in the WAL and is erased when that is next truncated. */
function ignoringErrors<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    if (db.isTransaction) db.exec('ROLLBACK');
    return undefined;
  }
}

function commit(batch: Batch): BatchReply {
  let begun = false;
  try {
    return inTransaction(() => {
      begun = true;
      return { values: performAll(batch) };
    });
  } catch (error) {
    // One of them failed and rolled back the transaction: run each alone, so that only the faulty one is rejected.
    // If no transaction could be started, trying each would only make all of them wait again.
    return oneByOne(batch, (operation) => {
      if (!begun) throw error;
      return alone(operation);
    });
  }
}

function oneByOne(batch: Batch, run: (operation: Operation) => unknown): BatchReply {
  const errors = new Map<number, WriteError>();
  const values = batch.map((operation, index) => {
    try {
      return run(operation);
    } catch (error) {
      const { message, errcode } = error as WriteError;
      return void errors.set(index, { message, errcode });
    }
  });
  return { values, errors };
}

function aloneIfSmall(operation: Operation): unknown {
  if (!grows(operation)) return alone(operation);
  throw Object.assign(new Error('the rest of the disk is reserved for deletions'), { errcode: sqliteFull });
}

/** Stores the last text of each room only. If that one is rejected after all, the caller runs each operation alone. */
function performAll(batch: Batch): unknown[] {
  if (batch.length === 1) return batch.map(perform);
  const replaced = replacedTexts(batch);
  const values = batch.map((operation, index) => perform(replaced.has(index) ? withoutFullText(operation) : operation));
  for (const by of replaced.values()) if (!isAppended(values[by])) throw new Error('A text was not replaced.');
  return values;
}

/**
 * The appends of a batch whose full text a later append of the same transaction replaces, with the index of that one.
 * Its effect was measured only together with other changes.
 */
function replacedTexts(batch: readonly (readonly unknown[])[]): Map<number, number> {
  const replaced = new Map<number, number>();
  const laterTexts = new Map<RoomCode, number>();
  for (const [index, [name, ...args]] of [...batch.entries()].reverse()) {
    // Other operations may read texts or end rooms.
    if (name !== 'appendText') laterTexts.clear();
    if (name !== 'appendText') continue;
    const [code, [, fullText, checkpoint]] = args as [RoomCode, AppendTexts];
    const by = laterTexts.get(code);
    if (fullText !== undefined && by !== undefined) replaced.set(index, by);
    if (fullText !== undefined) laterTexts.set(code, by ?? index);
    // It may be a copy of the text before.
    if (checkpoint) laterTexts.delete(code);
  }
  return replaced;
}

const withoutFullText = (given: Operation) => given.with(2, (given[2] as AppendTexts).with(1, undefined)) as Operation;

const isAppended = (reply: unknown): boolean => typeof reply === 'number' || Array.isArray(reply);

const alone = (operation: Operation): unknown => inTransaction(() => perform(operation));

const perform = (operation: Operation): unknown => changes[operation[0]]?.(sql, ...operation.slice(1));

function inTransaction<T>(work: () => T): T {
  transaction.begin.get();
  try {
    const result = work();
    transaction.commit.get();
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    // It may have left frames in the WAL, which later ones overwrite.
    eraser.requireWholeScan();
    throw error;
  }
}

/** Checkpoints the WAL, so that a copy of the database file is a complete backup. */
function close(): void {
  ignoringErrors(() => eraser.erase(busyTimeoutMs));
  db.close();
  port.close();
}
