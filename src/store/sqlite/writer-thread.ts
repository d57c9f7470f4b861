/** The thread that owns writing: one transaction for all the operations of a batch, so that they share one fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from './connection.ts';
import { bytesAddedBy, grows, watchDisk } from './disk-reserve.ts';
import { createOperations } from './operations.ts';
import { type Batch, type Outcome, sqliteFull } from './writer.ts';

const db = connect(workerData as string);
const operations = createOperations(db) as unknown as Record<string, (...args: unknown[]) => unknown>;
const hasRoomFor = watchDisk(db, workerData as string);
if (!parentPort) throw new Error('This module runs as a thread of the SQLite store.');
const port = parentPort;

port.on('message', (batch: Batch | 'close') => {
  if (batch === 'close') close();
  else port.postMessage(fits(batch) ? commit(batch) : batch.map(aloneIfSmall));
});

const fits = (batch: Batch) => !batch.some(grows) || hasRoomFor(bytesAddedBy(batch));

function aloneIfSmall(operation: Batch[number]): Outcome {
  if (!grows(operation)) return alone(operation);
  return { error: { message: 'the rest of the disk is kept for making room', errcode: sqliteFull } };
}

function commit(batch: Batch): Outcome[] {
  let begun = false;
  try {
    return inTransaction(() => {
      begun = true;
      return batch.map(({ name, args }) => ({ value: operations[name]?.(...args) }));
    });
  } catch (error) {
    // One of them failed and took the transaction along: each by itself, so that only the faulty one is refused.
    // Where not even a transaction was to be had, trying each would only make all of them wait once more.
    return batch.map((operation) => (begun ? alone(operation) : refusal(error)));
  }
}

function alone({ name, args }: Batch[number]): Outcome {
  try {
    return inTransaction(() => ({ value: operations[name]?.(...args) }));
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): Outcome {
  const { message, errcode } = error as Error & { errcode?: number };
  return { error: { message, errcode } };
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
