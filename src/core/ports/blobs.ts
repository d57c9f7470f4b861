/** The bytes of files. */
import type { Readable } from 'node:stream';

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
