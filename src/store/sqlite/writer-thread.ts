/** The writer thread: one transaction for all operations of a batch, so that they share one fsync. */
import { workerData } from 'node:worker_threads';
import { busyTimeoutMs, connect, prepareOnce } from './database.ts';
import { createEraser, createShrinker } from './erasure.ts';
import { operations } from './operations.ts';
import { isReplacement, mergeReplacements } from './text.ts';
import {
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
  ignoringErrors(eraser.erase);
  return hasMore ? 'shrinking' : 'erased';
}

function write(batch: Batch): BatchReply {
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

/** Texts of a room that replace each other are stored once, which takes 8 µs less for each of the others. */
function performAll(batch: Batch): unknown[] {
  const values: unknown[] = [];
  for (const group of groupsOf(batch)) {
    const reply = perform(mergeReplacements(group.map(([, operation]) => operation)));
    const isMerged = group.length > 1;
    // The caller then runs each operation alone.
    if (isMerged && typeof reply !== 'number') throw new Error('A text was not replaced.');
    for (const [n, [index]] of group.toReversed().entries()) values[index] = isMerged ? Number(reply) - n : reply;
  }
  return values;
}

/** The operations in order, with their indices. The texts of a group replace each other. */
function groupsOf(batch: Batch): [index: number, operation: Operation][][] {
  const groups: [number, Operation][][] = [];
  const open = new Map<unknown, [number, Operation][]>();
  for (const [index, operation] of batch.entries()) {
    const [name, code] = operation;
    // Other operations may read texts or end rooms.
    if (name !== 'appendText') open.clear();
    const earlier = open.get(code)?.at(-1)?.[1];
    const group = (earlier && isReplacement(operation, earlier) && open.get(code)) || [];
    if (group.push([index, operation]) === 1) groups.push(group);
    open.set(code, isReplacement(operation) ? group : []);
  }
  return groups;
}

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
