/** Checks that a file fits into its room and the quotas, and reserves its bytes. */
import { hash, randomBytes } from 'node:crypto';
import type { AdmittedRoom } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { byteCount, hasCode, PoproomError } from '../errors.ts';
import { uploadDeadlineMs } from '../limits.ts';
import type { ClientId, Room } from '../ports/basics.ts';
import type { ReachedLimit, StorageRequest } from '../ports/clients.ts';
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

export type FileSpace = ReturnType<typeof createFileSpace>;

export function createFileSpace(deps: CoreDeps) {
  const { files, blobs, storage, quota, clock } = deps;
  const { fileBytes: fileMax, filesPerRoom: roomMaxFiles, fileBytesPerRoom: roomMaxBytes } = deps.limits;

  function tooLarge(): PoproomError {
    const message = `The file exceeds the limit of ${inBytes(fileMax)}.`;
    return new PoproomError('FILE_TOO_LARGE', message, { details: { maximum: fileMax } });
  }

  function roomFull(): PoproomError {
    const limit = `${roomMaxFiles} files or ${inBytes(roomMaxBytes)}`;
    const message = `This room has reached its limit of ${limit}. Remove a file and try again.`;
    const details = { maximumFiles: roomMaxFiles, maximumBytes: roomMaxBytes };
    return new PoproomError('ROOM_FULL', message, { details });
  }

  const isFull = ({ fileCount, fileBytes }: Room, size: number) =>
    fileCount >= roomMaxFiles || fileBytes + size > roomMaxBytes;

  const deadline = () => clock() + uploadDeadlineMs;

  async function reserveIn(room: AdmittedRoom, client: ClientId, least: number, most: number): Promise<ReservedFile> {
    await blobs.checkSpace(most);
    const fileId = randomBytes(16).toString('hex');
    const { expiresAt } = room;
    const blob = hash('sha256', fileId, 'hex');
    const request = { blob, owner: quota.ownerOf(client), expiresAt, deadline: deadline(), least, most };
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

    /** `size` is the announced size; `mostBytes` is an upper bound if there is none. */
    async reserve(room: AdmittedRoom, client: ClientId, size: number | undefined, mostBytes = fileMax) {
      const [least, most] = [size ?? 0, size ?? Math.min(mostBytes, fileMax)];
      if (least > fileMax) throw tooLarge();
      if (isFull(room, least) && !(await eraseRemoved(room))) throw roomFull();
      try {
        return await reserveIn(room, client, least, most);
      } catch (error) {
        if (!hasCode(error, 'QUOTA_EXCEEDED', 'STORAGE_FULL') || !(await eraseRemoved(room))) throw error;
        return reserveIn(room, client, least, most);
      }
    },

    /** For a failed upload. If it fails, the sweep releases the bytes later. */
    release: ({ request }: ReservedFile) => storage.release(request).catch(() => undefined),

    /** While an upload takes long. */
    extend: ({ request }: ReservedFile) => storage.extend(request, deadline()),

    tooLarge,
    roomFull,
    isTooLarge: (size: number) => size > fileMax,
  };
}

/** For example "10 MiB (10,485,760 bytes)", or "1,000,000 bytes" if it is not a round number of a larger unit. */
function inBytes(bytes: number): string {
  const exact = byteCount(bytes);
  const power = [3, 2, 1].find((exponent) => bytes % 1024 ** exponent === 0);
  return power ? `${bytes / 1024 ** power} ${['', 'KiB', 'MiB', 'GiB'][power]} (${exact})` : exact;
}
