/**
 * Blobs in an S3 bucket, in one piece or in parts. Bytes are spooled to the local disk until a part is complete, and the
 * next part arrives while one is sent. Bytes that are too few for a part are stored as objects of their own, the tail,
 * so that another node can continue.
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../core/errors.ts';
import { type BlobProgress, type BlobStore, type Checksum, unfinishedName } from '../core/ports/files.ts';
import { bytesLost, receive } from './receive.ts';
import { openS3Objects, type S3Location, type S3Objects, type Timeouts, type UploadedPart } from './s3-objects.ts';
import { checkedName, isBlobName, openStaging, type StagedFile, writeAll } from './staging.ts';

export interface S3Options extends S3Location {
  /** A local folder for incomplete uploads. */
  spool: string;
  /** Bytes that must stay free on that disk. */
  minFree: number;
}

/** Large enough for most files in one piece, small enough to be sent within seconds. */
const smallestPart = 16 * 1024 * 1024;
/** S3 allows 10,000. The list of parts is stored with every step. */
const mostParts = 1000;

const partSizeFor = (size: number): number => Math.max(smallestPart, Math.ceil(size / mostParts));

export const defaultTimeouts: Timeouts = { connect: 1500, answer: 10_000, upload: 45_000, quiet: 2000, idle: 70_000 };

export async function openS3Blobs(options: S3Options, given: Partial<Timeouts> = {}): Promise<BlobStore> {
  const { spool, minFree, ...location } = options;
  const staging = openStaging({ folder: spool, minFree });
  const objects = await openS3Objects(location, { ...defaultTimeouts, ...given });

  async function putWhole(blob: string, staged: StagedFile, signal: AbortSignal): Promise<void> {
    try {
      await objects.put(blob, { ...staged, start: 0 }, signal);
    } catch (error) {
      // The object may have been stored just before the abort. If this fails, the scan for orphaned bytes removes it.
      if (signal.aborted) await objects.remove(blob).catch(() => undefined);
      throw error;
    }
    await rm(staged.path);
  }

  /** For files that may be too large for one piece. */
  async function putParts(blob: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number> {
    bytes.on('error', () => undefined);
    try {
      const { received, state } = await receiveParts({
        ...{ objects, blob, spools: staging.pathsOf(blob), partSize: partSizeFor(maxBytes) },
        ...{ bytes, maxBytes, signal, checksum: undefined },
        progress: { received: 0, state: '' },
        isComplete: () => true,
        onProgress: async () => undefined,
      });
      await finishParts(objects, blob, received, state);
      return received;
    } catch (error) {
      await removeParts(objects, blob).catch(() => undefined);
      signal.throwIfAborted();
      throw error;
    }
  }

  return {
    async put(blob, bytes, maxBytes, signal) {
      const partSize = partSizeFor(maxBytes);
      checkedName(blob);
      if (maxBytes > partSize) return staging.hold(blob, 2 * partSize, () => putParts(blob, bytes, maxBytes, signal));
      return staging.write({ blob, bytes, maxBytes, signal }, (staged) => putWhole(blob, staged, signal));
    },

    async append({ unfinished, ...append }) {
      const { blob, size, received, state } = unfinished;
      const partSize = partSizeFor(size);
      append.bytes.on('error', () => undefined);
      return staging.hold(blob, 2 * partSize, async () => {
        await receiveParts({
          ...{ ...append, objects, blob, spools: staging.pathsOf(blob), partSize },
          ...{ maxBytes: size - received, progress: { received, state } },
          isComplete: (total) => total === size,
        });
      });
    },

    finish: async ({ blob, size, state }) => finishParts(objects, checkedName(blob), size, state),

    open: async (blob, range) => objects.get(checkedName(blob), range),
    size: async (blob) => objects.size(checkedName(blob)),

    async remove(name) {
      const [blob = '', isUnfinished] = name.split('.');
      if (isUnfinished) await removeParts(objects, checkedName(blob));
      else await objects.remove(checkedName(blob));
    },

    removeLeftovers: async (blob) => removeLeftovers(objects, checkedName(blob)),

    // All nodes share the bucket.
    takeAbandoned: () => [],

    async *orphanBlobs(moment) {
      for (const blob of await staging.oldFiles(moment)) await staging.remove(blob);
      for await (const page of objects.list()) {
        yield page.filter(({ lastModified }) => lastModified < moment).flatMap(({ key }) => nameOf(key));
      }
      const unfinished = (await objects.listParts()).filter(({ lastModified }) => lastModified < moment);
      if (unfinished.length > 0) yield unfinished.flatMap(({ key }) => (isBlobName(key) ? [unfinishedName(key)] : []));
    },

    // The local disk holds only the parts that are being received and sent.
    checkSpace: (bytes) => staging.checkSpace(Math.min(bytes, 2 * partSizeFor(bytes))),

    async ping() {
      await staging.ping();
      await objects.ping();
    },
  };
}

/** The blob of an object: its key, or the key of a tail without its suffix. */
function nameOf(key: string): string[] {
  const [blob = '', suffix] = key.split('.');
  if (!isBlobName(blob)) return [];
  return [suffix === undefined ? blob : unfinishedName(blob)];
}

/** The stored bytes of an unfinished blob. */
interface PartsState {
  uploadId?: string;
  parts: UploadedPart[];
  /**
   * The highest number that a part may have. A request that was interrupted may still be sending that part, so the next
   * request leaves its number out. After a request that has ended, it is the number of the last part: some stores
   * require parts without gaps, from 1.
   */
  lastNumber: number;
  /** The objects with the bytes after the last part. */
  tail: Piece[];
}

type Piece = { key: string; size: number };

/** Each request adds a piece to the tail. With more pieces, they are joined. */
const mostPieces = 64;

interface PartsRequest {
  objects: S3Objects;
  blob: string;
  /** The paths of two spool files, which do not exist. */
  spools: readonly [string, string];
  partSize: number;
  progress: BlobProgress;
  bytes: Readable;
  maxBytes: number;
  signal: AbortSignal;
  checksum: Checksum | undefined;
  /** Whether the blob is complete with so many bytes, if their stream has ended. */
  isComplete: (received: number) => boolean;
  onProgress(progress: BlobProgress): Promise<void>;
}

/** Stores the bytes, and everything that has arrived if their stream breaks. */
async function receiveParts(request: PartsRequest): Promise<BlobProgress> {
  const { objects, blob, partSize, progress, signal, checksum, onProgress } = request;
  const state = parseState(progress.state);
  const spools = await Promise.all(request.spools.map(openSpool));
  const oldTail = state.tail;
  /** The spool has room for the tail, which is fetched only when a part is complete. */
  let tailBytes = sizeOf(oldTail);
  let isTailFetched = tailBytes === 0;
  let [current, filled] = [0, tailBytes];
  let received = progress.received;
  /** The number of the last part that was sent, and the highest one that is stored, which no other request uses. */
  let [lastSent, claimed] = [state.lastNumber, state.lastNumber];
  let sending: Promise<void> = Promise.resolve();
  let isSaved = false;

  const spoolNow = () => spools[current] as Spool;

  async function fetchTail(): Promise<void> {
    if (!isTailFetched) await fetchPieces(objects, oldTail, spoolNow());
    isTailFetched = true;
  }

  async function sendPart({ path }: Spool, size: number, after: number): Promise<void> {
    lastSent += 1;
    if (state.uploadId === undefined) state.uploadId = await objects.startParts(blob);
    else if (lastSent > claimed && isStarted(progress)) await claim(lastSent);
    // Not aborted with the request: what has arrived is kept.
    const file = { path, start: 0, size };
    state.parts.push(await objects.putPart(blob, state.uploadId, lastSent, file, neverAborted));
    state.tail = [];
    // The next part may be sent immediately.
    if (!checksum) await save(after, lastSent + 1);
  }

  /** Before the first part: another node may continue from the same progress while this one sends. */
  async function claim(number: number): Promise<void> {
    claimed = number;
    await onProgress({ ...progress, state: JSON.stringify({ ...parseState(progress.state), lastNumber: number }) });
  }

  async function save(durable: number, number: number): Promise<void> {
    [isSaved, claimed, state.lastNumber] = [true, number, number];
    await onProgress({ received: durable, state: JSON.stringify(state) });
  }

  /** Sends the spooled part while the other spool file takes the next one. */
  async function finishPart(): Promise<void> {
    await fetchTail();
    await sending;
    sending = sendPart(spoolNow(), filled, received);
    sending.catch(() => undefined);
    [current, filled, tailBytes] = [1 - current, 0, 0];
  }

  async function write(batch: readonly Buffer[]): Promise<void> {
    for (const chunk of batch) {
      for (let at = 0; at < chunk.length; ) {
        const piece = chunk.subarray(at, at + partSize - filled);
        await writeAll(spoolNow().handle, [piece], filled);
        [at, filled, received] = [at + piece.length, filled + piece.length, received + piece.length];
        if (filled === partSize) await finishPart();
      }
    }
  }

  /** Stores the bytes after the last part: as the last part, or as the whole object. */
  async function complete(): Promise<void> {
    await fetchTail();
    if (state.parts.length > 0 && filled > 0) await sendPart(spoolNow(), filled, received);
    if (state.parts.length === 0)
      await objects.put(blob, { path: spoolNow().path, start: 0, size: filled }, neverAborted);
    state.tail = [];
  }

  /** Stores the bytes that have arrived since the last part as a piece of the tail. */
  async function addPiece(): Promise<void> {
    if (filled === tailBytes) return;
    const isJoined = state.tail.length >= mostPieces;
    if (isJoined) await fetchTail();
    const start = isJoined ? 0 : tailBytes;
    const key = `${unfinishedName(blob)}-${randomBytes(6).toString('hex')}`;
    await objects.put(key, { path: spoolNow().path, start, size: filled - start }, neverAborted);
    state.tail = [...(isJoined ? [] : state.tail), { key, size: filled - start }];
  }

  /** Removes the parts of a request that is rejected, unless some of them count already. */
  async function discard(): Promise<void> {
    await sending.catch(() => undefined);
    const isNew = !isSaved && !isStarted(progress);
    // If this fails, the scan for orphaned bytes removes them.
    if (isNew && state.uploadId) await objects.abortParts(blob, state.uploadId).catch(() => undefined);
  }

  async function storeRest(hasEnded: boolean): Promise<void> {
    await sending;
    await (hasEnded && request.isComplete(received) ? complete() : addPiece());
    await save(received, lastSent);
    const unused = oldTail.filter(({ key }) => !state.tail.some((piece) => piece.key === key));
    // If this fails, the scan for orphaned bytes removes them.
    await Promise.all(unused.map(({ key }) => objects.remove(key))).catch(() => undefined);
  }

  try {
    try {
      await receive({ bytes: request.bytes, maxBytes: request.maxBytes, signal, checksum, write });
    } catch (error) {
      await (checksum || hasCode(error, 'FILE_TOO_LARGE') ? discard() : storeRest(false));
      throw error;
    }
    await storeRest(true);
    return { received, state: JSON.stringify(state) };
  } finally {
    await sending.catch(() => undefined);
    await Promise.all(spools.map(removeSpool));
  }
}

/** Turns the parts into an object of this size. May be repeated. */
async function finishParts(objects: S3Objects, blob: string, size: number, stored: string): Promise<void> {
  const { uploadId, parts } = parseState(stored);
  if (size === 0) return objects.put(blob, { path: '', start: 0, size: 0 }, neverAborted);
  try {
    if (uploadId !== undefined && (await objects.finishParts(blob, uploadId, parts))) return;
  } catch (error) {
    // Some stores report an unknown upload as an internal error.
    if ((await objects.size(blob)) !== size) throw error;
  }
  // It was stored in one piece, finished before, or its parts are lost.
  if ((await objects.size(blob)) !== size) throw bytesLost();
}

/** Removes everything that was stored of an unfinished blob. */
async function removeParts(objects: S3Objects, blob: string): Promise<void> {
  // A blob in one piece has its object before it is finished.
  await objects.remove(blob);
  await removeLeftovers(objects, blob);
}

/** Removes parts and pieces. The object of a finished blob is kept. */
async function removeLeftovers(objects: S3Objects, blob: string): Promise<void> {
  for (const { key, uploadId } of await objects.listParts(blob))
    if (key === blob) await objects.abortParts(key, uploadId);
  for await (const page of objects.list(unfinishedName(blob))) {
    await Promise.all(page.map(({ key }) => objects.remove(key)));
  }
}

const neverAborted = new AbortController().signal;

function parseState(stored: string): PartsState {
  if (stored === '') return { parts: [], tail: [], lastNumber: 0 };
  const state = JSON.parse(stored) as PartsState;
  // Earlier versions left out the number after the last part, and did not store it.
  state.lastNumber ??= state.uploadId === undefined ? 0 : (state.parts.at(-1)?.[0] ?? 0) + 1;
  return state;
}

/** Whether other requests know the upload in parts. */
const isStarted = ({ state }: BlobProgress) => parseState(state).uploadId !== undefined;

type Spool = { path: string; handle: FileHandle };

const openSpool = async (path: string): Promise<Spool> => ({ path, handle: await open(path, 'w', 0o600) });

async function removeSpool({ path, handle }: Spool): Promise<void> {
  await handle.close();
  await rm(path, { force: true });
}

const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { size }) => sum + size, 0);

/** Writes the pieces to the start of a spool file. */
async function fetchPieces(objects: S3Objects, pieces: readonly Piece[], { path }: Spool): Promise<void> {
  let start = 0;
  for (const { key, size } of pieces) {
    const bytes = await objects.get(key);
    if (!bytes) throw bytesLost();
    const file = createWriteStream(path, { flags: 'r+', start });
    await pipeline(bytes, file);
    if (file.bytesWritten !== size) throw bytesLost();
    start += size;
  }
}
