/** Checks that a file fits into its room and the quotas, and reserves its bytes. */
import { createHash, randomBytes } from 'node:crypto';
import type { AdmittedRoom } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { byteCount, hasCode, PoproomError } from '../errors.ts';
import { uploadDeadlineMs } from '../limits.ts';
import type { ClientId, Room } from '../ports/basics.ts';
import type { ReachedLimit, StorageRequest } from '../ports/clients.ts';
import type { FileQuota } from '../ports/files.ts';
import { overQuota } from '../storage-quota.ts';
import { trashOf } from '../sweep.ts';

/** A file with reserved bytes. The reservation ends when the file is added to its room, or is released. */
export interface ReservedFile {
  room: AdmittedRoom;
  request: StorageRequest;
  fileId: string;
  /** The maximum size, and the quota that determines it, if one does. */
  maxBytes: number;
  limit: ReachedLimit | undefined;
}

export interface FileSpace {
  readonly quota: FileQuota;
  /** `size` is the announced size; `mostBytes` is an upper bound if there is none. */
  reserve(room: AdmittedRoom, client: ClientId, size: number | undefined, mostBytes?: number): Promise<ReservedFile>;
  /** For a failed upload. If it fails, the sweep releases the bytes later. */
  release(file: ReservedFile): Promise<void>;
  /** While an upload takes long. */
  extend(file: ReservedFile): Promise<void>;
  tooLarge(): PoproomError;
  roomFull(): PoproomError;
  isTooLarge(size: number): boolean;
}

export function createFileSpace(deps: CoreDeps): FileSpace {
  const { files, blobs, storage, quota, clock } = deps;
  const { fileBytes: fileMax, filesPerRoom: roomMaxFiles, fileBytesPerRoom: roomMaxBytes } = deps.limits;

  const tooLarge = () =>
    new PoproomError('FILE_TOO_LARGE', `The file exceeds the limit of ${inBytes(fileMax)}.`, {
      details: { maximum: fileMax },
    });

  const roomFull = () =>
    new PoproomError(
      'ROOM_FULL',
      `This room has reached its limit of ${roomMaxFiles} files or ${inBytes(roomMaxBytes)}. Remove a file and try again.`,
      { details: { maximumFiles: roomMaxFiles, maximumBytes: roomMaxBytes } },
    );

  const isFull = ({ fileCount, fileBytes }: Room, size = 0) =>
    fileCount >= roomMaxFiles || fileBytes + size > roomMaxBytes;

  async function reserveIn(room: AdmittedRoom, client: ClientId, size: number | undefined, mostBytes: number) {
    await blobs.checkSpace(size ?? mostBytes);
    const fileId = randomBytes(16).toString('hex');
    const request = {
      blob: createHash('sha256').update(fileId).digest('hex'),
      owner: quota.ownerOf(client),
      expiresAt: room.expiresAt,
      deadline: clock() + uploadDeadlineMs,
      least: size ?? 0,
      most: size ?? mostBytes,
    };
    const grant = await storage.reserve(request, quota.limitsOf(client), clock());
    if (grant.outcome === 'refused') throw overQuota(grant.limit);
    return { room, request, fileId, maxBytes: grant.bytes, limit: grant.limit };
  }

  /** Files that were removed can be restored for a while, unless their space is needed. */
  async function eraseRemoved({ code }: Room): Promise<boolean> {
    if ((await files.eraseRemovedIn(code)) === 0) return false;
    await trashOf(deps).emptySoon();
    return true;
  }

  return {
    quota: { files: roomMaxFiles, bytes: roomMaxBytes },

    async reserve(room, client, size, mostBytes = fileMax) {
      const most = Math.min(mostBytes, fileMax);
      if ((size ?? 0) > fileMax) throw tooLarge();
      if (isFull(room, size) && !(await eraseRemoved(room))) throw roomFull();
      try {
        return await reserveIn(room, client, size, most);
      } catch (error) {
        const isSpaceMissing = hasCode(error, 'QUOTA_EXCEEDED') || hasCode(error, 'STORAGE_FULL');
        if (!isSpaceMissing || !(await eraseRemoved(room))) throw error;
        return reserveIn(room, client, size, most);
      }
    },

    async release({ request }) {
      await storage.release(request).catch(() => undefined);
    },

    async extend({ request }) {
      await storage.extend(request, clock() + uploadDeadlineMs);
    },

    tooLarge,
    roomFull,
    isTooLarge: (size) => size > fileMax,
  };
}

/** For example "10 MiB (10,485,760 bytes)", or "1,000,000 bytes" if it is not a round number of a larger unit. */
function inBytes(bytes: number): string {
  const exact = byteCount(bytes);
  for (const [unit, size] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes % size === 0) return `${bytes / size} ${unit} (${exact})`;
  }
  return exact;
}
