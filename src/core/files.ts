/** Files of a room: upload, list, read, remove. */
import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { largestFile } from '../protocol/largest-file.ts';
import type { FileEntry } from '../protocol/types.ts';
import { admit, type Caller, roomMissing } from './admission.ts';
import type { CoreDeps } from './deps.ts';
import { hasCode, PoproomError } from './errors.ts';
import { cleanFileName } from './file-name.ts';
import { filesPerRoom, uploadDeadlineMs } from './limits.ts';
import type { FileAddresses } from './live-gateway.ts';
import type { ByteRange, ReachedLimit, Room, StorageRequest, StoredFile } from './ports.ts';
import type { RoomCode } from './room-code.ts';
import { overQuota } from './storage-quota.ts';
import { toTimestamp } from './timestamp.ts';
import { trashOf } from './trash.ts';

export interface Upload {
  name: string;
  type: string;
  bytes: Readable;
  /** Settles when the whole request has been received. A form may be malformed after its file. */
  whole: Promise<void>;
  signal: AbortSignal;
}

/** An upload that may start. Its bytes are reserved until it is stored or has failed. */
export interface PreparedUpload {
  room: Room;
  request: StorageRequest;
  fileId: string;
  /** The maximum size, and the quota that determines it, if one does. */
  maxBytes: number;
  limit: ReachedLimit | undefined;
}

export type Files = ReturnType<typeof createFiles>;

export function createFiles(parts: CoreDeps) {
  const { rooms, blobs, bus, storage, quota, clock } = parts;

  async function keep(code: RoomCode, file: StoredFile): Promise<void> {
    const added = await rooms.addFile(code, file, filesPerRoom);
    if (added === 'full') throw roomFull();
    if (typeof added === 'string') throw roomMissing(added);
    bus.publish(code, { seq: added.seq });
  }

  /** Releases the reservation of a failed upload. If that fails, the sweep releases it later. */
  async function release({ request }: PreparedUpload): Promise<void> {
    await storage.release(request).catch(() => undefined);
  }

  async function store({ request, maxBytes, limit }: PreparedUpload, { bytes, signal }: Upload): Promise<number> {
    try {
      return await blobs.put(request.blob, bytes, maxBytes, signal);
    } catch (error) {
      throw hasCode(error, 'FILE_TOO_LARGE') ? tooLarge(limit) : error;
    }
  }

  return {
    /**
     * All checks that are possible before the first byte is read. `size` is the announced length, `mostBytes` an upper
     * bound if there is none; then up to the rest of the quota is reserved.
     */
    async prepareUpload(caller: Caller, size: number | undefined, mostBytes = largestFile): Promise<PreparedUpload> {
      const room = await admit(parts, caller);
      if (isUploadTooLarge(size ?? 0)) throw fileTooLarge();
      const full = room.fileCount >= filesPerRoom.files || room.fileBytes + (size ?? 0) > filesPerRoom.bytes;
      if (full) throw roomFull();
      await blobs.checkSpace(size ?? largestFile);
      const fileId = randomBytes(16).toString('hex');
      const request = {
        blob: createHash('sha256').update(fileId).digest('hex'),
        owner: quota.ownerOf(caller.client),
        expiresAt: room.expiresAt,
        deadline: clock() + uploadDeadlineMs,
        least: size ?? 0,
        most: size ?? Math.min(mostBytes, largestFile),
      };
      const grant = await storage.reserve(request, quota.limitsOf(caller.client), clock());
      if (grant.outcome === 'refused') throw overQuota(grant.limit);
      return { room, request, fileId, maxBytes: grant.bytes, limit: grant.limit };
    },

    async upload(prepared: PreparedUpload, upload: Upload): Promise<StoredFile> {
      const { room, request, fileId } = prepared;
      const { blob, owner } = request;
      let isStored = false;
      try {
        const size = await store(prepared, upload);
        isStored = true;
        await upload.whole;
        const [name, type] = [cleanFileName(upload.name), cleanType(upload.type)];
        const file = { id: fileId, blob, name, type, size, uploadedAt: clock(), owner };
        await keep(room.code, file);
        return file;
      } catch (error) {
        // If the store did not respond, the row may exist. Then the hourly scan decides about the bytes.
        if (isStored && hasCode(error, 'UNAVAILABLE')) throw error;
        if (isStored) await blobs.remove(blob);
        await release(prepared);
        throw error;
      }
    },

    async list(caller: Caller): Promise<StoredFile[]> {
      const { code } = await admit(parts, caller);
      const files = await rooms.listFiles(code, clock());
      if (typeof files === 'string') throw roomMissing(files);
      return files;
    },

    async remove(caller: Caller, fileId: string): Promise<void> {
      const { code } = await admit(parts, caller);
      const removed = await rooms.removeFile(code, fileId, clock());
      if (removed === 'no-file') throw fileNotFound();
      if (typeof removed === 'string') throw roomMissing(removed);
      bus.publish(code, { seq: removed.seq });
      await trashOf(parts).emptySoon();
    },

    /** No access check: the URL grants read access. */
    async find(fileId: string): Promise<StoredFile> {
      const file = /^[0-9a-f]{32}$/.test(fileId) ? await rooms.findFile(fileId, clock()) : undefined;
      if (!file) throw fileNotFound();
      return file;
    },

    async read(file: StoredFile, range: ByteRange | undefined): Promise<Readable> {
      const bytes = await blobs.open(file.blob, range);
      if (!bytes) throw fileNotFound();
      return bytes;
    },
  };
}

/** A file as lists and live messages describe it. */
export function fileEntryOf(file: StoredFile, linkTo: FileAddresses['linkTo']): FileEntry {
  return {
    fileId: file.id,
    fileUrl: linkTo(file),
    fileName: file.name,
    fileSize: file.size,
    contentType: file.type,
    uploadedAt: toTimestamp(file.uploadedAt),
  };
}

/** Drops parameters, because a charset could change how a browser interprets the file. */
function cleanType(declared: string): string {
  const bare = declared.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}$/.test(bare) ? bare : 'application/octet-stream';
}

/** The only limit of a file's own size. A form may be larger than its file by `overhead`. */
export function isUploadTooLarge(bytes: number, overhead = 0): boolean {
  return bytes > largestFile + overhead;
}

export function fileTooLarge(): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', 'The file exceeds the limit of 10 MiB (10,485,760 bytes).', {
    details: { maximum: largestFile },
  });
}

/** A blob store knows the maximum size but not the reason for it. */
const tooLarge = (limit: ReachedLimit | undefined) => (limit ? overQuota(limit) : fileTooLarge());

function fileNotFound(): PoproomError {
  return new PoproomError('FILE_NOT_FOUND', 'This file does not exist, or its room has ended.');
}

function roomFull(): PoproomError {
  return new PoproomError(
    'ROOM_FULL',
    'This room has reached its limit of 100 files or 100 MiB. Remove a file and try again.',
    {
      details: { maximumFiles: filesPerRoom.files, maximumBytes: filesPerRoom.bytes },
    },
  );
}
