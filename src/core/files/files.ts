/** Files of a room: upload in one request, list, read, remove, restore; claims of one-time files; space for uploads. */

import { hash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { cleanFileName, cleanType } from '../../protocol/file-name.ts';
import { isDropEnvelope } from '../../protocol/sealed.ts';
import type { FileEntry } from '../../protocol/types.ts';
import { type AdmittedRoom, admit, type Caller, deviceOfLink, linkMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { byteCount, counted, hasCode, orMissing, PoproomError } from '../errors.ts';
import type { KeyedRun } from '../idempotency.ts';
import { claimMs, uploadDeadlineMs } from '../limits.ts';
import { filesSeenByLink } from '../links.ts';
import type { FileAddresses } from '../live-gateway.ts';
import type { ClientId, FinishedRequest, Room } from '../ports/basics.ts';
import type { ReachedLimit, StorageRequest } from '../ports/clients.ts';
import type { ByteRange, StoredFile } from '../ports/files.ts';
import type { RoomCode } from '../room-code.ts';
import { checkSealedMeta, cleanFolder, encryptedBytes, notEncrypted } from '../sealed.ts';
import { overQuota } from '../storage-quota.ts';
import { extendAfterWrite, trashOf } from '../sweep.ts';
import { secondsUntil, toTimestamp } from '../timestamp.ts';
import { areEqual } from '../tokens.ts';

export interface FileDescription {
  name: string;
  type: string;
  folder: string;
  once: boolean;
  /** In an encrypted room: the sealed metadata, instead of name, type and folder. */
  meta?: string;
}

export interface Upload extends FileDescription {
  bytes: Readable;
  /** Settles when the whole request has been received. A form may be malformed after its file. */
  whole: Promise<void>;
  deviceId: string | undefined;
  signal: AbortSignal;
  /** For a request with an idempotency key. */
  run?: KeyedRun<UploadedFile> | undefined;
}

export type UploadedFile = Pick<StoredFile, 'id' | 'name' | 'size' | 'once'>;

type FileCheck = (file: StoredFile) => boolean;

export type Files = ReturnType<typeof createFiles>;

export function createFiles(deps: CoreDeps, space: FileSpace) {
  const { files, blobs, bus, clock } = deps;

  /** Returns an earlier request if that has uploaded the file. */
  async function keep(code: RoomCode, file: StoredFile, run: Upload['run']): Promise<FinishedRequest | undefined> {
    const added = orMissing(await files.addFile(code, file, space.quota, run?.record(uploadedOf(file))));
    if (added === 'full') throw space.roomFull();
    if (added === 'no-link') throw linkMissing();
    if ('repeated' in added) return added.repeated;
    bus.publish(code, { seq: added.seq });
    return undefined;
  }

  /** Renews the reservation while the bytes arrive. */
  async function store(reserved: ReservedFile, { bytes: sent, signal }: Upload): Promise<number> {
    const { room, request, maxBytes, limit } = reserved;
    const bytes = room.salt === undefined ? sent : encryptedBytes(sent);
    const renewal = setInterval(() => void space.extend(reserved).catch(() => undefined), uploadDeadlineMs / 3);
    try {
      return await blobs.put(request.blob, bytes, maxBytes, signal);
    } catch (error) {
      // A blob store knows the maximum size but not the reason for it.
      if (hasCode(error, 'FILE_TOO_LARGE')) throw limit ? overQuota(limit) : space.tooLarge();
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  /** Changes a file and notifies the members of its room. */
  async function change(caller: Caller, fileId: string, action: 'removeFile' | 'restoreFile', isExpected?: FileCheck) {
    const { code } = await admit(deps, caller, 'removeFile');
    // A file never changes, so nothing can happen between the check and the removal.
    const file = isExpected && (await files.findFile(fileId, clock()));
    if (file && !isExpected?.(file))
      throw new PoproomError(
        'VERSION_CONFLICT',
        'The file is not the version that If-Match names. It was not removed.',
      );
    const changed = orMissing(await files[action](code, fileId, clock()));
    if (changed === 'no-file') throw fileNotFound();
    bus.publish(code, { seq: changed.seq });
  }

  return {
    /** All checks that are possible before the first byte is read. Without a size, reserves up to the rest of the quota. */
    async prepareUpload(caller: Caller, size: number | undefined, mostBytes?: number): Promise<ReservedFile> {
      return space.reserve(await admit(deps, caller, 'addFile'), caller.client, size, mostBytes);
    },

    async upload(reserved: ReservedFile, upload: Upload): Promise<UploadedFile> {
      const { room, request, fileId } = reserved;
      const { blob, owner } = request;
      let isStored = false;
      try {
        const description = describeIn(room, upload);
        const size = await store(reserved, upload);
        isStored = true;
        await upload.whole;
        const uploader = uploaderOf(room, upload.deviceId);
        const file = { ...description, id: fileId, blob, size, uploadedAt: clock(), owner, ...uploader };
        const { run } = upload;
        const earlier = await keep(room.code, file, run);
        if (!earlier) await extendAfterWrite(deps, room);
        if (!run || !earlier) return uploadedOf(file);
        const result = run.replay(earlier);
        // If this fails, the hourly scan does it.
        await blobs.remove(blob).catch(() => undefined);
        await space.release(reserved);
        return result;
      } catch (error) {
        // If the store did not respond, the row may exist. Then the hourly scan decides about the bytes.
        if (isStored && hasCode(error, 'UNAVAILABLE')) throw error;
        if (isStored) await blobs.remove(blob);
        await space.release(reserved);
        throw error;
      }
    },

    async list(caller: Caller): Promise<StoredFile[]> {
      const { code, link } = await admit(deps, caller, 'listFiles');
      const listed = orMissing(await files.listFiles(code, clock()));
      return link ? filesSeenByLink(deps, listed, link) : listed;
    },

    /** The file can be restored until a sweep erases it. */
    remove: (caller: Caller, fileId: string, isExpected: FileCheck) => change(caller, fileId, 'removeFile', isExpected),
    restore: (caller: Caller, fileId: string) => change(caller, fileId, 'restoreFile'),

    /** No access check: the URL grants read access. */
    async find(fileId: string): Promise<StoredFile> {
      const file = isFileId(fileId) ? await files.findFile(fileId, clock()) : undefined;
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

/** The device that uploads a file, and the link that it uses, if any. */
export function uploaderOf({ link }: AdmittedRoom, deviceId: string | undefined) {
  if (!link) return { deviceId };
  return { deviceId: deviceId === undefined ? undefined : deviceOfLink(deviceId), link: link.id };
}

const uploadedOf = ({ id, name, size, once }: StoredFile): UploadedFile => ({ id, name, size, once });

export const isFileId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** The description that is stored: cleaned, or neutral and sealed in an encrypted room. */
export function describeIn({ salt }: Room, { name, type, folder, once, meta }: FileDescription): FileDescription {
  if (salt !== undefined) {
    const isDropped = meta !== undefined && isDropEnvelope(meta);
    return { ...neutral, once, meta: isDropped ? meta : checkSealedMeta(meta, 'file', 'meta') };
  }
  if (meta !== undefined) throw notEncrypted('meta');
  return { name: cleanFileName(name), type: cleanType(type), folder: cleanFolder(folder), once };
}

const neutral = { name: 'encrypted', type: 'application/octet-stream', folder: '' };

/** A file as lists and live messages describe it. */
export function fileEntryOf(file: StoredFile, linkTo: FileAddresses['linkTo']): FileEntry {
  return {
    fileId: file.id,
    fileUrl: linkTo(file),
    fileName: file.name,
    fileSize: file.size,
    contentType: file.type,
    uploadedAt: toTimestamp(file.uploadedAt),
    ...(file.folder !== '' && { folder: file.folder }),
    ...(file.deviceId !== undefined && { deviceId: file.deviceId }),
    ...(file.once && { once: true as const }),
    ...(file.meta !== undefined && { meta: file.meta }),
  };
}

const fileNotFound = () => new PoproomError('FILE_NOT_FOUND', 'This file does not exist, or its room has ended.');

export type Claims = ReturnType<typeof createClaims>;

/** Receiving one-time files: claim, read with the claim, confirm or give back. */
export function createClaims(deps: CoreDeps) {
  const { files, bus, clock } = deps;

  return {
    /** The claim is a token. It is not stored, and grants read access until it expires. */
    async claim(caller: Caller, fileId: string) {
      const { code } = await admit(deps, caller, 'receiveFile');
      const claim = randomBytes(16).toString('hex');
      const now = clock();
      const expiresAt = now + claimMs;
      if (!isFileId(fileId)) throw fileNotFound();
      const outcome = orMissing(await files.claimFile(code, fileId, { hash: hashOf(claim), expiresAt }, now));
      if (outcome === 'no-file') throw fileNotFound();
      if (outcome === 'not-once')
        throw new PoproomError('NOT_ONE_TIME_FILE', 'This is not a one-time file. Download it from its URL.');
      if ('claimedUntil' in outcome) throw fileClaimed(outcome.claimedUntil, now);
      return { file: outcome.claimed, claim, expiresAt };
    },

    /** Throws unless the file may be read: a one-time file needs its open claim. */
    async checkReadable(file: StoredFile, claim: string | undefined): Promise<void> {
      if (!file.once) return;
      if (claim === undefined) throw oneTimeFile(file.id);
      const open = isClaim(claim) ? await files.findClaim(file.id, clock()) : undefined;
      if (!open || !areEqual(open.hash, hashOf(claim))) throw claimNotFound();
    },

    /** Erases the file. It cannot be restored. */
    async confirm(caller: Caller, claim: string): Promise<void> {
      const { code } = await admit(deps, caller, 'receiveFile');
      const received = isClaim(claim) ? orMissing(await files.receiveFile(code, hashOf(claim), clock())) : 'no-claim';
      if (received === 'no-claim') throw claimNotFound();
      bus.publish(code, { seq: received.seq, received: received.fileId });
      await trashOf(deps).emptySoon();
    },

    async release(caller: Caller, claim: string): Promise<void> {
      const { code } = await admit(deps, caller, 'receiveFile');
      const released = isClaim(claim) ? orMissing(await files.releaseClaim(code, hashOf(claim), clock())) : 'no-claim';
      if (released === 'no-claim') throw claimNotFound();
    },
  };
}

/** A claim has the form of an id: 16 random bytes. */
const isClaim = isFileId;

/** A token is random, so its hash needs no key. */
const hashOf = (claim: string): string => hash('sha256', claim, 'hex');

function oneTimeFile(fileId: string): PoproomError {
  const message = 'This file can be received only once, so its link does not open it. Receive it in the room, or claim';
  return new PoproomError('ONE_TIME_FILE', `${message} it with POST /api/rooms/ROOM/files/${fileId}/claim.`);
}

function fileClaimed(until: number, now: number): PoproomError {
  const retryAfter = secondsUntil(until, now);
  const wait = counted(Math.ceil(retryAfter / 60), 'minute');
  const message = `Someone else is receiving this file. If they do not finish, it is available again within ${wait}.`;
  return new PoproomError('FILE_CLAIMED', message, { retryAfter, details: { retryAfter } });
}

function claimNotFound(): PoproomError {
  const message = 'There is no such claim. It has expired, was given back, or its file was received or removed.';
  return new PoproomError('CLAIM_NOT_FOUND', message);
}

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

/** Checks that a file fits into its room and the quotas, and reserves its bytes. */
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
