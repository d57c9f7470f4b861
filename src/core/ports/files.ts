/** Files as stores keep them; `blobs.ts` has their bytes. */
import type { BlobProgress } from './blobs.ts';
import type { Owner } from './common.ts';

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
}

/**
 * Reserves a one-time file for one receiver. A one-time file is available, claimed until the claim expires or is
 * released, and gone when it has been received.
 */
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

export interface FileQuota {
  files: number;
  bytes: number;
}
