/** Files of a room: taking them in, listing, handing out, removing. */
import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { largestFile } from '../protocol/largest-file.ts';
import { admit, type Caller, roomOver } from './admission.ts';
import { PoproomError } from './errors.ts';
import { cleanFileName } from './file-name.ts';
import { filesPerRoom } from './limits.ts';
import type { Parts } from './parts.ts';
import type { ByteRange, Room, StoredFile } from './ports.ts';
import type { RoomCode } from './room-code.ts';
import { trashOf } from './trash.ts';

export interface Upload {
  name: string;
  type: string;
  bytes: Readable;
  /** As announced by the sender, where it was; no more than this can come. */
  size: number | undefined;
  /** Settles when the request has been received whole; a form may turn out to be malformed after its file. */
  whole: Promise<void>;
  signal: AbortSignal;
}

export type Files = ReturnType<typeof createFiles>;

export function createFiles(parts: Parts) {
  const { rooms, blobs, bus, clock } = parts;

  async function keep(code: RoomCode, file: StoredFile): Promise<void> {
    const added = await rooms.addFile(code, file, filesPerRoom);
    if (added === 'full') throw roomFull();
    if (typeof added === 'string') throw roomOver(added);
    bus.publish(code, { seq: added.seq });
  }

  return {
    /** Everything that can be refused before a byte is read. */
    async prepareUpload(caller: Caller, size: number | undefined): Promise<Room> {
      const room = await admit(parts, caller);
      if (size !== undefined && size > largestFile) throw fileTooLarge();
      const full = room.fileCount >= filesPerRoom.files || room.fileBytes + (size ?? 0) > filesPerRoom.bytes;
      if (full) throw roomFull();
      await blobs.checkSpace(size ?? largestFile);
      return room;
    },

    async upload(room: Room, { name, type, bytes, size: announced, whole, signal }: Upload): Promise<StoredFile> {
      const id = randomBytes(16).toString('hex');
      const blob = createHash('sha256').update(id).digest('hex');
      const size = await blobs.put(blob, bytes, announced ?? largestFile, signal).catch(inOurWords);
      try {
        await whole;
        const file = { id, blob, name: cleanFileName(name), type: cleanType(type), size, uploadedAt: clock() };
        await keep(room.code, file);
        return file;
      } catch (error) {
        // Where the store did not answer, the row may be there: then the hourly walk decides about the bytes.
        const unknown = error instanceof PoproomError && error.code === 'UNAVAILABLE';
        if (!unknown) await blobs.remove(blob);
        throw error;
      }
    },

    async list(caller: Caller): Promise<StoredFile[]> {
      const { code } = await admit(parts, caller);
      const files = await rooms.listFiles(code, clock());
      if (typeof files === 'string') throw roomOver(files);
      return files;
    },

    async remove(caller: Caller, fileId: string): Promise<void> {
      const { code } = await admit(parts, caller);
      const removed = await rooms.removeFile(code, fileId, clock());
      if (removed === 'no-file') throw fileNotFound();
      if (typeof removed === 'string') throw roomOver(removed);
      bus.publish(code, { seq: removed.seq });
      await trashOf(parts).emptySoon();
    },

    /** No door here: the address is the right to read. */
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

/** Only the bare type is kept: parameters can smuggle a character set into what a browser shows. */
function cleanType(declared: string): string {
  const bare = declared.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}$/.test(bare) ? bare : 'application/octet-stream';
}

export function fileTooLarge(): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', 'A file may have at most 10 MiB (10,485,760 bytes).', {
    details: { maximum: largestFile },
  });
}

/** A store knows how much it was to take, and not what a file may have. */
function inOurWords(error: unknown): never {
  throw error instanceof PoproomError && error.code === 'FILE_TOO_LARGE' ? fileTooLarge() : error;
}

function fileNotFound(): PoproomError {
  return new PoproomError('FILE_NOT_FOUND', 'There is no such file, or its room is gone.');
}

function roomFull(): PoproomError {
  return new PoproomError('ROOM_FULL', 'A room holds at most 100 files and 100 MiB; remove one to make room.', {
    details: { maximumFiles: filesPerRoom.files, maximumBytes: filesPerRoom.bytes },
  });
}
