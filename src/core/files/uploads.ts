/** Uploads that arrive in several requests and survive interruptions. */
import type { Readable } from 'node:stream';
import { type AdmittedRoom, admit, type Caller, linkMissing } from '../admission.ts';
import { singleFlights } from '../concurrency.ts';
import type { CoreDeps } from '../deps.ts';
import { byteCount, hasCode, orMissing, PoproomError } from '../errors.ts';
import { unfinishedUploadMs } from '../limits.ts';
import type { MissingReason, Room } from '../ports/basics.ts';
import type { BlobProgress, Checksum, StoredFile, UnfinishedFile } from '../ports/files.ts';
import type { StoredLink } from '../ports/rooms.ts';
import type { RoomCode } from '../room-code.ts';
import { encryptedBytes, headerBytes, notEncryptedFile } from '../sealed.ts';
import { extending, trashOf } from '../sweep.ts';
import { createUploadTickets } from '../tokens.ts';
import { describeIn, type FileDescription, type FileSpace, isFileId, uploaderOf } from './files.ts';

export type NewUpload = FileDescription & { size: number };

export interface UploadPart {
  /** Must be the number of bytes that have been received. */
  offset: number;
  bytes: Readable;
  /** The announced number of bytes, if there is one. */
  length: number | undefined;
  checksum: Checksum | undefined;
  signal: AbortSignal;
}

export type UploadStatus = Omit<UnfinishedFile, 'state'>;

export type Uploads = ReturnType<typeof createUploads>;

export function createUploads(deps: CoreDeps, space: FileSpace) {
  const { files, uploads, blobs, bus, clock, secret } = deps;
  const tickets = createUploadTickets(secret, clock);
  /** Requests that send bytes. */
  const running = new Map<string, { aborter: AbortController; ended: Promise<unknown> }>();
  /** The newest request for an upload, until the running one has stopped. */
  const waiting = new Map<string, AbortController>();
  const finishOnce = singleFlights<string, void>();

  /** Ends the requests that send bytes for an upload. A client that sends another one has lost them. */
  function interrupt(fileId: string): Promise<unknown> | undefined {
    const earlier = running.get(fileId);
    waiting.get(fileId)?.abort(continuedElsewhere());
    earlier?.aborter.abort(continuedElsewhere());
    return earlier?.ended;
  }

  /** Only a client that could continue an upload may interrupt it. */
  async function checkBeforeInterrupting(room: AdmittedRoom, fileId: string): Promise<void> {
    if (running.has(fileId) || waiting.has(fileId)) await find(room, fileId);
  }

  /** Runs a task that other requests for the upload can interrupt. Only the newest request waits for its turn. */
  async function alone<T>(fileId: string, signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const aborter = new AbortController();
    const either = AbortSignal.any([signal, aborter.signal]);
    const earlier = interrupt(fileId);
    if (earlier) {
      waiting.set(fileId, aborter);
      await settledOrAborted(earlier, either);
      if (waiting.get(fileId) === aborter) waiting.delete(fileId);
    }
    either.throwIfAborted();
    const ended = task(either).finally(() => running.delete(fileId));
    running.set(fileId, { aborter, ended });
    return ended;
  }

  async function find({ code, link }: AdmittedRoom, fileId: string): Promise<UnfinishedFile> {
    const file = orThrow(isFileId(fileId) ? await uploads.findUpload(code, fileId, clock()) : 'no-file');
    if (!isOwn(file, link)) throw uploadNotFound();
    return file;
  }

  /** Lists the file when all its bytes have arrived. Of several requests that notice it, one does the work. */
  async function finishIfComplete(room: Room, file: UnfinishedFile): Promise<void> {
    if (file.received < file.size) return;
    await finishOnce(file.id, () => extending(deps, room, finish(room.code, file)));
  }

  async function finish(code: RoomCode, file: UnfinishedFile): Promise<void> {
    await blobs.finish(file);
    const finished = await uploads.finishUpload(code, file.id, clock());
    // Another request may have finished it since it was read.
    if (finished === 'no-file' && (await findComplete(file.id, undefined))) return;
    const { seq } = orThrow(finished);
    bus.publish(code, { seq });
  }

  async function findComplete(fileId: string, link: StoredLink | undefined): Promise<StoredFile | undefined> {
    const file = isFileId(fileId) ? await files.findFile(fileId, clock()) : undefined;
    return file && isOwn(file, link) ? file : undefined;
  }

  /** A client that lost its connection may continue an upload while the server finishes it. It must not start again. */
  async function asConflictIfComplete({ link }: AdmittedRoom, fileId: string, error: unknown): Promise<unknown> {
    const file = hasCode(error, 'UPLOAD_NOT_FOUND') ? await findComplete(fileId, link) : undefined;
    return file ? wrongOffset(file.size, 'The upload is complete.') : error;
  }

  async function receive(room: AdmittedRoom, fileId: string, part: UploadPart): Promise<UnfinishedFile> {
    const { code } = room;
    const file = await find(room, fileId);
    if (part.offset !== file.received)
      throw wrongOffset(file.received, `The upload has ${byteCount(file.received)}. Continue from there.`);
    if (part.offset + (part.length ?? 0) > file.size) throw tooManyBytes(file.size);
    await blobs.checkSpace(file.size - file.received);
    const isWithinHeader = file.meta !== undefined && part.offset < headerBytes;
    const bytes = isWithinHeader ? encryptedBytes(part.bytes, part.offset, true) : part.bytes;
    const appended = blobs.append({
      ...{ bytes, checksum: part.checksum, signal: part.signal, unfinished: { ...file } },
      async onProgress(progress: BlobProgress) {
        const advanced = orThrow(await uploads.advanceUpload(code, fileId, file.received, progress, clock()));
        if (advanced === 'stale') throw continuedElsewhere();
        Object.assign(file, progress);
      },
    });
    await appended.catch((error) => {
      throw hasCode(error, 'FILE_TOO_LARGE') ? tooManyBytes(file.size) : error;
    });
    await finishIfComplete(room, file);
    return file;
  }

  return {
    /** Grants a ticket for uploads that are about to start, at most for as many as a room can have. */
    async announce(caller: Caller, requested: number) {
      const { code, link } = await admit(deps, caller, 'addFile');
      const roomId = link?.id ?? code;
      const uploads = Math.min(requested, deps.limits.filesPerRoom);
      return { roomId, uploads, ...tickets.issue({ client: caller.client, roomId, uploads }) };
    },

    async create(caller: Caller, upload: NewUpload): Promise<UnfinishedFile> {
      const room = await admit(deps, caller, 'addFile');
      const description = describeIn(room, upload);
      if (description.meta !== undefined && upload.size < headerBytes) throw notEncryptedFile();
      const reserved = await space.reserve(room, caller.client, upload.size);
      const now = clock();
      const { blob, owner } = reserved.request;
      const file: UnfinishedFile = {
        ...{ ...description, id: reserved.fileId, blob, owner, size: upload.size, uploadedAt: now },
        ...uploaderOf(room, caller.deviceId),
        ...{ received: 0, state: '', expiresAt: Math.min(room.expiresAt, now + unfinishedUploadMs) },
      };
      const started = await uploads.startUpload(room.code, file, space.quota);
      if (started !== 'started') await space.release(reserved);
      if (orThrow(started) === 'full') throw space.roomFull();
      await finishIfComplete(room, file);
      return file;
    },

    /** How much has been received. Finishes an upload whose last request was interrupted after its last byte. */
    async status(caller: Caller, fileId: string): Promise<UploadStatus> {
      const room = await admit(deps, caller, 'addFile');
      const stored = await findComplete(fileId, room.link);
      if (stored) return { ...stored, received: stored.size, expiresAt: room.expiresAt };
      const file = await find(room, fileId);
      await finishIfComplete(room, file);
      return file;
    },

    /** Adds bytes. If the request breaks, those that have arrived are kept. */
    async append(caller: Caller, fileId: string, part: UploadPart): Promise<UnfinishedFile> {
      const room = await admit(deps, caller, 'addFile');
      try {
        await checkBeforeInterrupting(room, fileId);
        return await alone(fileId, part.signal, (signal) => receive(room, fileId, { ...part, signal }));
      } catch (error) {
        throw await asConflictIfComplete(room, fileId, error);
      }
    },

    async cancel(caller: Caller, fileId: string): Promise<void> {
      const room = await admit(deps, caller, 'addFile');
      await checkBeforeInterrupting(room, fileId);
      if (room.link) await find(room, fileId);
      await interrupt(fileId)?.catch(() => undefined);
      orThrow(isFileId(fileId) ? await uploads.cancelUpload(room.code, fileId, clock()) : 'no-file');
      await trashOf(deps).emptySoon();
    },
  };
}

async function settledOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  work.then(resolve, resolve);
  signal.addEventListener('abort', resolve, { once: true });
  if (!signal.aborted) await promise;
}

/** The holder of a link has access only to what was uploaded with it. Members have access to everything. */
const isOwn = (file: StoredFile, link: StoredLink | undefined): boolean => !link || file.link === link.id;

function orThrow<T>(found: T | MissingReason) {
  const present = orMissing(found);
  if (present === 'no-link') throw linkMissing();
  if (present === 'no-file') throw uploadNotFound();
  return present as Exclude<T, MissingReason | 'no-link' | 'no-file'>;
}

function uploadNotFound(): PoproomError {
  const message = 'There is no such unfinished upload. It is complete, was cancelled or has expired.';
  return new PoproomError('UPLOAD_NOT_FOUND', message);
}

const continuedElsewhere = () => new PoproomError('UPLOAD_CONFLICT', 'Another request continues this upload.');

export function tooManyBytes(maximum: number): PoproomError {
  const message = `The upload was announced with ${byteCount(maximum)}, and the request has more.`;
  return new PoproomError('FILE_TOO_LARGE', message, { details: { maximum } });
}

const wrongOffset = (offset: number, message: string) =>
  new PoproomError('UPLOAD_CONFLICT', message, { details: { offset } });
