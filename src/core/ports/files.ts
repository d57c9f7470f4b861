/** Files as stores keep them, unfinished ones, and the trash; and the blob stores, which have their bytes. */

import type { Readable } from 'node:stream';
import type { LinkId, RoomCode } from '../../protocol/room-code.ts';
import type { InRoom, Owner, Repeated, RequestRecord } from './basics.ts';

export interface StoredFile {
  id: string;
  /** The name in the blob store: a hash of the id, so that the disk does not reveal URLs. */
  blob: string;
  name: string;
  type: string;
  size: number;
  uploadedAt: number;
  /** The client that uploaded it; undefined for files from versions without quotas. */
  owner: Owner | undefined;
  /** The path of its folder, such as `photos/2026`; empty for none. */
  folder: string;
  /** The device that uploaded it; undefined if the request had no device id. */
  deviceId: string | undefined;
  /** Whether it is a one-time file: read with a claim only, and erased when it has been received. */
  once: boolean;
  /** In an encrypted room: the sealed metadata. */
  meta?: string;
  /** The drop link that it was uploaded with, if any. */
  link?: LinkId;
}

/** Reserves a one-time file for one receiver, until it is received, or the claim expires or is released. */
export interface FileClaim {
  /** The SHA-256 of the token as hexadecimal digits. No store has the token. */
  hash: string;
  expiresAt: number;
}

/** A file whose bytes arrive in several requests. It counts like a stored file, and is not listed. */
export interface UnfinishedFile extends StoredFile, BlobProgress {
  /** When it is removed if it is still unfinished. At most when the room expires. */
  expiresAt: number;
}

export type FileQuota = { files: number; bytes: number };

type AddOutcome = { seq: number } | Repeated | 'full' | 'no-link';
type Advancing = InRoom<'advanced' | 'stale' | 'no-file'>;
type ClaimOutcome = { claimed: StoredFile } | { claimedUntil: number } | 'not-once' | 'no-file';

export interface FileStore {
  /** From now on its bytes count for its owner, whether or not they were reserved. `no-link` if its link was revoked or has expired. */
  addFile(code: RoomCode, file: StoredFile, quota: FileQuota, record?: RequestRecord): InRoom<AddOutcome>;
  listFiles(code: RoomCode, now: number): InRoom<StoredFile[]>;
  /** Finds a file by id in any unexpired room. */
  findFile(fileId: string, now: number): Promise<StoredFile | undefined>;
  /** Hides a file. It still counts, and can be restored until it is erased. */
  removeFile(code: RoomCode, fileId: string, now: number): InRoom<{ seq: number } | 'no-file'>;
  /** Lists a removed file again, at its previous position. */
  restoreFile(code: RoomCode, fileId: string, now: number): InRoom<{ seq: number } | 'no-file'>;
  /** Claims a one-time file unless another claim is open: of concurrent callers, one succeeds. */
  claimFile(code: RoomCode, fileId: string, claim: FileClaim, now: number): InRoom<ClaimOutcome>;
  /** The open claim of a listed file in any unexpired room. */
  findClaim(fileId: string, now: number): Promise<FileClaim | undefined>;
  /**
   * Erases a claimed file: moves its bytes to the trash. Also works if the file was removed or the claim has expired,
   * unless there is a newer claim. Compares hashes in constant time.
   */
  receiveFile(code: RoomCode, claimHash: string, now: number): InRoom<{ seq: number; fileId: string } | 'no-claim'>;
  /** Makes a claimed file available again. Compares hashes in constant time. */
  releaseClaim(code: RoomCode, claimHash: string, now: number): InRoom<'released' | 'no-claim'>;
  /** Moves the bytes of up to `limit` files that were removed before `moment` to the trash. Returns their number. */
  eraseRemoved(moment: number, limit: number): Promise<number>;
  /** The same for all removed files of a room. */
  eraseRemovedIn(code: RoomCode): Promise<number>;
}

/** Files whose bytes arrive in several requests, until they are complete. */
export interface UploadStore {
  /** Adds an unfinished file. From now on its bytes count, whether or not they were reserved. */
  startUpload(code: RoomCode, file: UnfinishedFile, quota: FileQuota): InRoom<'started' | 'full' | 'no-link'>;
  findUpload(code: RoomCode, fileId: string, now: number): InRoom<UnfinishedFile | 'no-file'>;
  /** Records the progress of an upload if it had exactly `from` bytes before. */
  advanceUpload(code: RoomCode, fileId: string, from: number, progress: BlobProgress, now: number): Advancing;
  /** Lists an unfinished file that has all its bytes, as uploaded now. */
  finishUpload(code: RoomCode, fileId: string, now: number): InRoom<{ seq: number } | 'no-file' | 'no-link'>;
  /** Drops an unfinished file, and moves its bytes to the trash. */
  cancelUpload(code: RoomCode, fileId: string, now: number): InRoom<'cancelled' | 'no-file'>;
  /** Drops up to `limit` unfinished files that have expired, and moves their bytes to the trash. Returns their number. */
  expireUploads(now: number, limit: number): Promise<number>;
}

/** Names of blobs. A room or a file that ends moves its blobs here, in the same step. */
export interface TrashStore {
  listTrash(limit: number): Promise<string[]>;
  clearTrash(blobs: readonly string[]): Promise<void>;
  /** Which of these names of blobs, finished or not, belong to a file or are in the trash. */
  knownBlobs(names: readonly string[]): Promise<Set<string>>;
}

/** For a store that several nodes share. */
export interface TrashClaims {
  /** Claims blobs for removal, so that no other node removes them for a while. Returns those that were claimed. */
  claim(blobs: readonly string[], now: number): Promise<readonly string[]>;
  /** Releases the claim on blobs that could not be removed. */
  release(blobs: readonly string[]): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** A checksum that a client sent for the bytes of a request. */
export interface Checksum {
  /** As in node:crypto. */
  algorithm: string;
  digest: Buffer;
}

/** How much of an unfinished blob is durable. */
export interface BlobProgress {
  received: number;
  /** Data of the blob store for the next append; empty at the start. Only the blob store reads it. */
  state: string;
}

/** A blob whose bytes arrive in several requests. */
export interface UnfinishedBlob extends BlobProgress {
  blob: string;
  /** Its final size in bytes. */
  size: number;
}

export interface BlobAppend {
  unfinished: UnfinishedBlob;
  bytes: Readable;
  signal: AbortSignal;
  /** If they do not match, none of the bytes is kept. */
  checksum: Checksum | undefined;
  /** Called whenever more bytes are durable. They count only when the promise has resolved. */
  onProgress(progress: BlobProgress): Promise<void>;
}

/** The name in the trash of an unfinished blob, whose bytes are a file in another folder, or parts of an object. */
export const unfinishedName = (blob: string): string => `${blob}.part`;
export const isUnfinishedName = (name: string): boolean => name.endsWith('.part');
/** The blob of a name in the trash. */
export const blobOf = (name: string): string => (isUnfinishedName(name) ? name.slice(0, -'.part'.length) : name);

export interface BlobStore {
  /** Stores the bytes durably and returns their number, at most `maxBytes`. It takes ownership of the chunks. */
  put(blob: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number>;
  /** If the stream breaks, it rejects and keeps what has arrived. Rejects with FILE_TOO_LARGE beyond the final size. */
  append(append: BlobAppend): Promise<void>;
  /** Turns an unfinished blob that has all its bytes into a blob. May be repeated. */
  finish(unfinished: UnfinishedBlob): Promise<void>;
  open(blob: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  size(blob: string): Promise<number | undefined>;
  /** Removes a blob, or the bytes of an unfinished one by their {@link unfinishedName}. */
  remove(name: string): Promise<void>;
  /** Removes bytes of interrupted requests that a finished blob does not contain. The blob is kept. */
  removeLeftovers(blob: string): Promise<void>;
  /** Unfinished blobs that an earlier process has left. None if other processes may use the store, or called again. */
  takeAbandoned(): string[];
  /** Yields the names of older blobs and unfinished blobs, in batches. Those of running uploads are left out. */
  orphanBlobs(moment: number): AsyncIterable<string[]>;
  /** Rejects with STORAGE_FULL if another file of this size would leave too little space. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}
