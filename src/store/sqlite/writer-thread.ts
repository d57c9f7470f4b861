/** The thread that owns writing: one transaction for all the operations of a batch, so that they share one fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from './connection.ts';
import { bytesAddedBy, grows, watchDisk } from './disk-reserve.ts';
import { createOperations } from './operations.ts';
import { type Batch, type BatchReply, type Operation, sqliteFull, type WriteError } from './writer.ts';

const db = connect(workerData as string);
const operations = createOperations(db) as unknown as Record<string, (...args: unknown[]) => unknown>;
const hasRoomFor = watchDisk(db, workerData as string);
if (!parentPort) throw new Error('This module runs as a thread of the SQLite store.');
const port = parentPort;

port.on('message', (batch: Batch | 'close') => {
  if (batch === 'close') close();
  else port.postMessage(fits(batch) ? commit(batch) : oneByOne(batch, aloneIfSmall));
});

const fits = (batch: Batch) => !batch.some(grows) || hasRoomFor(bytesAddedBy(batch));

function commit(batch: Batch): BatchReply {
  let begun = false;
  try {
    return inTransaction(() => {
      begun = true;
      return { values: batch.map(perform) };
    });
  } catch (error) {
    // One of them failed and rolled back the transaction: run each alone, so that only the faulty one is refused.
    // Where no transaction could be started, trying each would only make all of them wait once more.
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
  throw Object.assign(new Error('the rest of the disk is kept for making room'), { errcode: sqliteFull });
}

const alone = (operation: Operation): unknown => inTransaction(() => perform(operation));

function perform(operation: Operation): unknown {
  return operations[operation[0]]?.(...operation.slice(1));
}

function inTransaction<T>(work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The log goes into the database file, so that a copy of that one file is a whole backup. */
function close(): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  port.close();
}
