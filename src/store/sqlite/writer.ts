/**
 * Group commit. Writes run on a separate thread, because an fsync blocks. Writes that arrive during a commit form the
 * next batch. Each is acknowledged after its commit.
 */

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort, Worker, WorkerOptions } from 'node:worker_threads';
import { PoproomError } from '../../core/errors.ts';
import type { BlobProgress } from '../../core/ports/files.ts';
import type { RoomRecord } from '../../core/ports/store.ts';
import type { CheckpointInfo, HistoryLimits, TextCompaction } from '../../core/ports/texts.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { ReadSnapshot, Sql } from './database.ts';
import type { DatabaseFile } from './erasure.ts';

/** A change of the database, in a transaction. Its name is its key in `operations.ts`. */
type Change<Args extends never[] = never[], Result = unknown> = (sql: Sql, ...args: Args) => Result;
export type Operation = [name: string, ...args: unknown[]];
export type Batch = Operation[];
/** The results and errors of a batch. Values are sent without a wrapper, which would double their cost. */
export interface BatchReply {
  values: unknown[];
  /** By the index of the operation, if there are any. */
  errors?: Map<number, WriteError>;
}
export type WriteError = { message: string; errcode: number | undefined };

export interface ThreadData extends DatabaseFile {
  /** Whether the WAL contains all writes since deleted text was last erased. */
  isLogTrusted: boolean;
  port: MessagePort;
}

type Thread = ReturnType<typeof startThread>;

interface Waiting {
  operation: Operation;
  /** The length of its texts in characters. */
  textLength: number;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

const largestBatch = 256;
/** A working disk never has this many waiting. Beyond it, writes are rejected instead of delayed. */
const longestQueue = 10_000;
/** The total length of queued texts in characters: ten thousand of maximum size would fill the memory. */
const maxQueuedText = 64 * 1024 * 1024;
export const sqliteFull = 13;
/** How often deleted text is erased from the files. */
export const eraseEveryMs = 10_000;
/** The pause between two steps of returning free pages to the disk. */
const shrinkEveryMs = 50;

export type Writer = ReturnType<typeof createWriter>;

/** The connection of the server's thread, which only reads, with its statements, and the writer. */
export interface OpenedDatabase {
  db: DatabaseSync;
  sql: Sql;
  snapshot: ReadSnapshot;
  writer: Writer;
}

export interface WriterOptions extends Pick<ThreadData, 'isLogTrusted'> {
  file: DatabaseFile;
  operations: Readonly<Record<string, Change>>;
  snapshot: Pick<ReadSnapshot, 'suspend' | 'resume'>;
  eraseEveryMs: number;
}

export function createWriter({ file, operations, isLogTrusted, snapshot, eraseEveryMs }: WriterOptions) {
  const names = new Map<unknown, string>(Object.entries(operations).map(([name, change]) => [change, name]));
  let thread: Thread | undefined;
  let isTrusted = isLogTrusted;
  let queue: Waiting[] = [];
  let committing: Waiting[] = [];
  let queuedText = 0;
  let erasing: 'no' | 'due' | 'running' = 'no';
  let closed = false;
  let idle = () => {};
  const eraseTimer = setInterval(eraseSoon, eraseEveryMs);
  eraseTimer.unref();

  /** Starts the thread with the first write, so that reads and the first health check do not wait for it. */
  function start(): Thread {
    const started = startThread({ ...file, isLogTrusted: isTrusted });
    // If the thread fails, its knowledge of the WAL is lost.
    isTrusted = false;
    started.port.on('message', (reply: BatchReply | 'erased' | 'shrinking') => {
      if (reply === 'shrinking') setTimeout(eraseSoon, shrinkEveryMs).unref();
      if (typeof reply === 'string') onErased();
      else settle(reply);
    });
    started.worker.on('error', (error) => fail(unavailable(error)));
    started.worker.on('exit', () => {
      if (thread === started) thread = undefined;
      fail(unavailable());
    });
    return started;
  }

  function eraseSoon(): void {
    if (!thread || erasing !== 'no') return;
    erasing = 'due';
    proceed();
  }

  /** Runs between two batches, while no read is active. */
  function erase({ port }: Thread): void {
    erasing = 'running';
    snapshot.suspend();
    port.postMessage('erase');
  }

  function onErased(): void {
    erasing = 'no';
    snapshot.resume();
    proceed();
    if (isIdle()) idle();
  }

  const isIdle = () => committing.length + queue.length === 0 && erasing !== 'running';

  function proceed(): void {
    if (committing.length > 0 || erasing === 'running') return;
    if (thread && erasing === 'due') erase(thread);
    else if (queue.length > 0) commit();
  }

  function commit(): void {
    committing = queue.splice(0, largestBatch);
    queuedText -= committing.reduce((sum, { textLength }) => sum + textLength, 0);
    snapshot.suspend();
    thread ??= start();
    thread.port.postMessage(committing.map(({ operation }) => operation));
  }

  function settle({ values, errors }: BatchReply): void {
    const done = committing;
    committing = [];
    snapshot.resume();
    proceed();
    done.forEach(({ resolve, reject }, i) => {
      const error = errors?.get(i);
      if (error) reject(rejection(error));
      else resolve(values[i] as never);
    });
    if (isIdle()) idle();
  }

  function fail(error: Error): void {
    const lost = [...committing, ...queue];
    committing = [];
    queue = [];
    queuedText = 0;
    erasing = 'no';
    snapshot.resume();
    for (const { reject } of lost) reject(error);
    idle();
  }

  /** Waits until the queue is empty, whatever the outcome. */
  function finish(): Promise<void> {
    return new Promise((resolve) => {
      if (isIdle()) resolve();
      else idle = resolve;
    });
  }

  return {
    run<Args extends unknown[], Result>(change: (sql: Sql, ...args: Args) => Result, ...args: Args): Promise<Result> {
      return new Promise((resolve, reject) => {
        const operation: Operation = [names.get(change) as string, ...args];
        const textLength = sizeOfTexts(operation, ({ length }) => length);
        const isFull = queue.length >= longestQueue || queuedText + textLength > maxQueuedText;
        if (closed || isFull) return reject(unavailable());
        queuedText += textLength;
        queue.push({ operation, textLength, resolve: resolve as Waiting['resolve'], reject });
        // Writes of the same event loop turn form one batch.
        if (queue.length === 1) setImmediate(proceed);
      });
    },

    /** Writes that are not committed yet. */
    queueLength: () => queue.length + committing.length,

    async close(): Promise<void> {
      closed = true;
      clearInterval(eraseTimer);
      await finish();
      if (!thread) return;
      const { worker, port } = thread;
      snapshot.suspend();
      await new Promise<void>((resolve) => {
        worker.once('exit', () => resolve());
        port.postMessage('close');
      });
    },
  };
}

export type AppendTexts = [
  /** JSON; undefined if the log does not keep the entry. */
  edits: string | undefined,
  /** Replaces the stored full text. */
  fullText: string | undefined,
  checkpoint: NewCheckpoint | undefined,
  /** The entry of an encrypted room. */
  sealed: string | undefined,
];

export interface NewCheckpoint {
  /** Without its content if that is the stored full text. */
  checkpoint: CheckpointInfo & { content?: string | undefined };
  limits: HistoryLimits;
}

type AppendOperation = [name: string, code: RoomCode, append: AppendTexts];

const noTexts = () => [];

/** The texts of each operation that adds data. Other data is short. */
const textsOf: Record<string, (operation: never) => (string | undefined)[]> = {
  createRoom: noTexts,
  updateRoom: noTexts,
  addFile: noTexts,
  startUpload: noTexts,
  appendText: ([, , [edits, text, kept, sealed]]: AppendOperation) => [edits, text, kept?.checkpoint.content, sealed],
  compactText: ([, , , { content, checkpoint }]: [string, RoomCode, number, TextCompaction]) => {
    return [content, checkpoint?.checkpoint.content];
  },
  restoreRoom: ([, { content, entries, history }]: [string, RoomRecord]) => [
    content.content,
    ...entries.flatMap(({ edits, sealed }) => [sealed, ...edits.map(({ insert }) => insert)]),
    ...history.map((checkpoint) => checkpoint.content),
  ],
  advanceUpload: (operation: [string, RoomCode, number, string, number, BlobProgress]) => [operation[5].state],
};

const sizeOfTexts = (operation: Operation, sizeOf: (text: string) => number): number =>
  (textsOf[operation[0]]?.(operation as never) ?? []).reduce((sum, text) => sum + (text ? sizeOf(text) : 0), 0);

/** With a port of our own, because Node sends messages of its own through the worker: those of `node --watch`. */
function startThread(data: Omit<ThreadData, 'port'>) {
  const { MessageChannel } = process.getBuiltinModule('node:worker_threads');
  const { port1, port2 } = new MessageChannel();
  return { worker: startWorker({ workerData: { ...data, port: port2 }, transferList: [port2] }), port: port1 };
}

/** The code is beside this module, as source or built file, or inside the executable. */
function startWorker(options: WorkerOptions): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const { isSea, getAsset } = process.getBuiltinModule('node:sea');
  if (isSea()) return new Worker(getAsset('writer-thread.cjs', 'utf8'), { ...options, eval: true });
  const name = `./writer-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  return new Worker(new URL(name, import.meta.url), options);
}

function unavailable(cause?: unknown): PoproomError {
  const message = 'The database does not accept writes at the moment. Try again later.';
  return new PoproomError('UNAVAILABLE', message, { retryAfter: 1, cause });
}

function rejection({ message, errcode }: WriteError): PoproomError {
  const cause = new Error(message);
  if (errcode === sqliteFull) return storageFull(cause);
  return new PoproomError('UNAVAILABLE', 'The database rejected the write. Try again later.', { retryAfter: 1, cause });
}

export const storageFull = (cause?: unknown): PoproomError =>
  new PoproomError('STORAGE_FULL', 'The server has no disk space left.', { cause });

const reserve = 64 * 1024 * 1024;
/** With this much more, free space is measured only every 100 ms: at 100 commits per second, it took 11 µs of each. */
const plenty = 1024 * 1024 * 1024;
const measureEveryMs = 100;
/** One in the WAL, one in the database file, and one for the overhead of both. */
const copies = 3;

export const grows = ([name]: Operation): boolean => Object.hasOwn(textsOf, name);

/**
 * Reserves disk space for deletions. Ending a room is first written to the WAL, which fails on a completely full disk,
 * so that the server could never free space again.
 *
 * Returns a function that tells whether this many bytes of texts fit without using the reserve.
 */
export function watchDisk(db: DatabaseSync, path: string): (bytes: number) => boolean {
  const folder = dirname(path);
  const [pageSize, unusedPages] = [db.prepare('PRAGMA page_size'), db.prepare('PRAGMA freelist_count')];
  const unusedInside = () => Number(unusedPages.get()?.freelist_count) * Number(pageSize.get()?.page_size);

  let measured = { free: 0, at: Number.NEGATIVE_INFINITY };

  function leftAfter(bytes: number): number {
    const now = performance.now();
    const isKnown = now - measured.at <= measureEveryMs && measured.free - reserve - copies * bytes >= plenty;
    if (!isKnown) measured = { free: freeIn(folder), at: now };
    measured.free -= copies * bytes;
    return measured.free - reserve;
  }

  return (bytes) => {
    const left = leftAfter(bytes);
    return left >= 0 || left + unusedInside() >= 0;
  };
}

/** Without a known size there is no reserve. Writes fail when the disk is full. */
function freeIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export const bytesAddedBy = (batch: Batch): number =>
  batch.reduce((sum, operation) => sum + sizeOfTexts(operation, Buffer.byteLength) + copiedBy(operation), 0);

/** The size of a checkpoint that the writer copies. */
function copiedBy(operation: Operation): number {
  if (operation[0] !== 'appendText') return 0;
  const checkpoint = (operation as AppendOperation)[2][2]?.checkpoint;
  return checkpoint && checkpoint.content === undefined ? checkpoint.size : 0;
}
