/**
 * The interfaces of external systems: stores, files, events, time.
 *
 * Every method is one atomic step of its driver (one SQLite transaction, one Redis script), so core needs no locks.
 * Where core reads before it writes, as for text edits, the store rejects the write if the text has changed since.
 * Times are milliseconds since the epoch and always come from the caller's clock.
 */
import type { Readable } from 'node:stream';
import type { RoomCode } from '../protocol/room-code.ts';
import type { TextEdit } from '../text/edits.ts';

export type Clock = () => number;

/** The client that a request counts against: `key:ID` or an address. */
export type ClientId = string;

/** The owner of stored bytes, as keyed hashes: no address is stored. */
export interface Owner {
  client: string;
  /** The network that the address of the client belongs to; undefined for a key and for IPv4. */
  network: string | undefined;
}

export interface Room {
  code: RoomCode;
  createdAt: number;
  expiresAt: number;
  hasPin: boolean;
  /** Undefined if it has none. */
  name: string | undefined;
  fileCount: number;
  fileBytes: number;
}

export interface RoomDraft {
  /** Random symbols. The code is a prefix, whose length `codeLengths` gives for the current number of rooms. */
  draw: string;
  codeLengths: readonly CodeLength[];
  createdAt: number;
  expiresAt: number;
  pinMac: Uint8Array | undefined;
  name: string | undefined;
  /** The creator knows the PIN, so wrong PINs of others must not lock it out. */
  creator: ClientId;
  /** The creator, for operators; undefined if unknown. */
  owner: Owner | undefined;
  /** Whether a long text counts against the quota of the owner. */
  countsText: boolean;
  /** Whether the room keeps checkpoints of its text. */
  keepsHistory: boolean;
}

/** A change of a room by an admitted client. Fields that are undefined stay as they are. */
export interface RoomUpdate extends Pick<AccessAttempt, 'client' | 'isCrossSite'> {
  expiresAt?: number | undefined;
  /** Null removes the PIN. Any value resets all wrong PINs; only `client` has then given the correct one. */
  pinMac?: Uint8Array | null | undefined;
  /** Null removes the name. */
  name?: string | null | undefined;
  /** The PIN with which the client was admitted. The room must still have it. */
  admittedBy: Uint8Array | undefined;
  /** How long an upload may be unfinished. It ends with its room, so its end moves too. */
  uploadLifetimeMs: number;
}

/** Codes of this length are used for up to this many unexpired rooms. */
export interface CodeLength {
  length: number;
  upTo: number;
}

/** An attempt to access a room. */
export interface AccessAttempt {
  /** Undefined if the input cannot be a code. It still counts as a miss. */
  code: RoomCode | undefined;
  client: ClientId;
  /** Whether a page of another site sent it. Such attempts may use half of the client's misses. */
  isCrossSite?: boolean;
  pinMac: Uint8Array | undefined;
  deviceId: string | undefined;
  now: number;
}

export type Admission = { outcome: 'admitted'; room: Room } | Refusal;
type Reading = { outcome: 'admitted'; content: Content } | Refusal;

export type Refusal =
  | { outcome: 'unknown' }
  | { outcome: 'expired' }
  | { outcome: 'pin-required' }
  | { outcome: 'pin-incorrect'; triesLeft: number; lockedUntil: number | undefined }
  /** For clients that never gave the correct PIN; with `isForLife`, until the room ends or its PIN changes. */
  | { outcome: 'pin-locked'; until: number; isForLife?: true }
  | { outcome: 'too-many-misses'; until: number };

/** The limits of the guess guards. Drivers count, core defines the limits. */
export interface GuardRules {
  triesBeforeLock: number;
  firstLockMs: number;
  longestLockMs: number;
  /** Within a window. */
  wrongPinsPerRoom: number;
  /** Over the lifetime of a room with the same PIN. */
  wrongPinsPerLife: number;
  /** How many of these are reserved for networks without a wrong PIN, one try each. */
  wrongPinsOfNewNetworks: number;
  /** Unknown codes and wrong PINs of one client across all rooms; 0 disables the guard. */
  missesPerClient: number;
  windowMs: number;
  /** How many clients may start a counter within a window. Further clients share the counter of their network. */
  countersPerWindow: number;
  /** How long the store distinguishes an expired room from an unknown code. */
  rememberExpiredMs: number;
  /** How long a device counts as attached after a request. */
  deviceSeenMs: number;
  /** How long a channel counts if its node does not renew it, because the node has crashed. */
  channelSeenMs: number;
  devicesPerRoom: number;
}

export interface Content {
  content: string;
  version: number;
  writtenAt: number;
}

/** One change of the text in the log of a room. */
export interface TextEntry {
  /** The version that it created. Its edits apply to the previous version. */
  version: number;
  edits: readonly TextEdit[];
  /** Undefined for a request without a device id. */
  deviceId: string | undefined;
  /** The client's id for the edit, which identifies it after a lost response. */
  ref: string | undefined;
  writtenAt: number;
}

/**
 * The text of a room in a store: the full text of one version, and the log of later edits. The log may start before
 * the full text, for clients that reconnect.
 */
export interface StoredText {
  /** The current text: the full text with the later edits applied. */
  content: Content;
  /** The log, oldest first. If it is not empty, its last entry created the current version. */
  entries: readonly TextEntry[];
  /** Identifies the current text; see {@link TextAppend}. */
  revision: number;
  /** The version of the stored full text. */
  fullTextVersion: number;
  /** The version of the newest checkpoint; 0 if there is none. */
  checkpointVersion: number;
  keepsHistory: boolean;
  /** Absent if the text does not count. */
  quota?: TextQuota;
}

/** The quota that a text counts against, and its bytes. */
export interface TextQuota {
  owner: Owner;
  charged: number;
  /** Bytes of all checkpoints. */
  historyBytes: number;
}

/**
 * Appends an entry to the log if the text it was created for is still the current one. The version alone does not
 * identify a text: of two texts with the same version only one was stored, and an entry for the other must not follow.
 */
export interface TextAppend {
  entry: TextEntry;
  /** Random numbers that identify the text after the entry and the text before it; 0 for a new room. */
  revision: number;
  previousRevision: number;
  /** The whole text after the entry, if the caller has it. A driver may cache it. */
  content: string | undefined;
  /**
   * Stores the full text of the new version, and drops the entries through `dropThrough` from the log, possibly
   * including this one. With `isLogEmpty`, a driver need not search for older entries.
   */
  compaction: { content: string; dropThrough: number; isLogEmpty?: boolean } | undefined;
  /** Stores the text before the edit, and drops the oldest checkpoints over the limits. */
  checkpoint: { checkpoint: Checkpoint; limits: HistoryLimits } | undefined;
}

export type AppendOutcome =
  | { outcome: 'appended'; seq: number }
  /** Another text is current. Contains the entries since the expected version, if the log has them. */
  | { outcome: 'stale'; version: number; revision: number; entries: readonly TextEntry[] | undefined }
  | { outcome: MissingReason };

/** The whole text of the current version. */
export interface CurrentText {
  version: number;
  revision: number;
  content: string;
}

/** An earlier text of a room that can be restored. */
export interface CheckpointInfo {
  version: number;
  writtenAt: number;
  /** The device that wrote this version. */
  deviceId: string | undefined;
  /** Bytes of UTF-8. */
  size: number;
}

export interface Checkpoint extends CheckpointInfo {
  content: string;
}

export interface HistoryLimits {
  checkpoints: number;
  /** The total of all checkpoints. The newest is kept whatever its size. */
  bytes: number;
}

/** Why an operation found no room after its caller was admitted: it has expired, or it was deleted. */
export type MissingReason = 'expired' | 'gone';

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

/** The state of a room for its members. */
export interface RoomState {
  room: Room;
  /** Increases with every change of the room. */
  seq: number;
  text: TextState;
  files: StoredFile[];
  /** Wrong PINs so far. */
  pinAttempts: number;
  /** The MAC of its PIN, if it has one. Never sent to clients. */
  pinMac: Uint8Array | undefined;
}

export interface TextState {
  version: number;
  writtenAt: number;
  /** Undefined if the reader named a version and `entries` lead from it to this one. */
  content: string | undefined;
  /** The entries since the version that the reader named; empty if `content` is set. */
  entries: readonly TextEntry[];
}

export interface Device {
  id: string;
  /** A display name; undefined if the device sent none. */
  name: string | undefined;
}

/** A live connection of a device. */
export interface Channel {
  id: string;
  device: Device;
}

/** On the embedded engine, a room that was found expired stays expired, even if the clock is set back. */
export interface RoomStore {
  /** Creates the room and returns its code, or undefined if the code is in use. */
  createRoom(draft: RoomDraft): Promise<RoomCode | undefined>;
  /** Counts and checks an attempt, and attaches its device if it names one. */
  admit(attempt: AccessAttempt): MaybePromise<Admission>;
  /** Like `admit`, and reads the text in the same step. */
  read(attempt: AccessAttempt): MaybePromise<Reading>;
  /** Removes the room and moves its bytes to the trash. */
  deleteRoom(code: RoomCode, now: number): Promise<{ seq: number } | MissingReason>;
  /**
   * A consistent snapshot of everything that a device may see. With `sinceVersion`, it contains the entries since that
   * version if the log has them, and the whole text otherwise.
   */
  readState(code: RoomCode, now: number, sinceVersion?: number): Promise<RoomState | MissingReason>;
  /** Records a wrong PIN for the members of the room; undefined if there is no such room. */
  notePinAttempt(code: RoomCode, now: number): Promise<{ seq: number } | undefined>;
  /** Changes a room, with everything that ends with it. `pin-changed` if the client must be admitted again. */
  updateRoom(
    code: RoomCode,
    update: RoomUpdate,
    now: number,
  ): Promise<{ seq: number; room: Room } | 'pin-changed' | MissingReason>;

  /** The device of a channel counts as attached until it is detached, or not renewed in time. */
  attachDevice(code: RoomCode, channel: Channel, now: number): Promise<'attached' | 'full'>;
  renewDevices(code: RoomCode, channels: readonly Channel[], now: number): Promise<void>;
  detachDevice(code: RoomCode, channelId: string): Promise<void>;
  /** Distinct devices: those with a channel, and those with a recent request. */
  listDevices(code: RoomCode, now: number): Promise<Device[]>;

  /** The text with its log, for editing. */
  readText(code: RoomCode, now: number): Promise<StoredText | MissingReason>;
  appendText(code: RoomCode, append: TextAppend): Promise<AppendOutcome>;

  /** Newest first. */
  listHistory(code: RoomCode, now: number): Promise<CheckpointInfo[] | MissingReason>;
  readCheckpoint(code: RoomCode, version: number, now: number): Promise<Checkpoint | 'no-checkpoint' | MissingReason>;
  /** Erases the checkpoints and the log if `current` is still the current text. */
  clearHistory(code: RoomCode, current: CurrentText, now: number): Promise<'cleared' | 'stale' | MissingReason>;

  /** From now on its bytes count for its owner, whether or not they were reserved. */
  addFile(code: RoomCode, file: StoredFile, quota: FileQuota): Promise<{ seq: number } | 'full' | MissingReason>;
  listFiles(code: RoomCode, now: number): Promise<StoredFile[] | MissingReason>;
  /** Finds a file by id in any unexpired room. */
  findFile(fileId: string, now: number): Promise<StoredFile | undefined>;
  /** Hides a file. It still counts, and can be restored until it is erased. */
  removeFile(code: RoomCode, fileId: string, now: number): Promise<{ seq: number } | 'no-file' | MissingReason>;
  /** Lists a removed file again, at its previous position. */
  restoreFile(code: RoomCode, fileId: string, now: number): Promise<{ seq: number } | 'no-file' | MissingReason>;
  /** Claims a one-time file unless another claim is open: of concurrent callers, one succeeds. */
  claimFile(
    code: RoomCode,
    fileId: string,
    claim: FileClaim,
    now: number,
  ): Promise<{ claimed: StoredFile } | { claimedUntil: number } | 'not-once' | 'no-file' | MissingReason>;
  /** The open claim of a listed file in any unexpired room. */
  findClaim(fileId: string, now: number): Promise<FileClaim | undefined>;
  /**
   * Erases a claimed file: moves its bytes to the trash. Also works if the file was removed or the claim has expired,
   * unless there is a newer claim. Compares hashes in constant time.
   */
  receiveFile(
    code: RoomCode,
    claimHash: string,
    now: number,
  ): Promise<{ seq: number; fileId: string } | 'no-claim' | MissingReason>;
  /** Makes a claimed file available again. Compares hashes in constant time. */
  releaseClaim(code: RoomCode, claimHash: string, now: number): Promise<'released' | 'no-claim' | MissingReason>;
  /** Moves the bytes of up to `limit` files that were removed before `moment` to the trash. Returns their number. */
  eraseRemoved(moment: number, limit: number): Promise<number>;
  /** The same for all removed files of a room. */
  eraseRemovedIn(code: RoomCode): Promise<number>;

  /** Adds an unfinished file. From now on its bytes count, whether or not they were reserved. */
  startUpload(code: RoomCode, file: UnfinishedFile, quota: FileQuota): Promise<'started' | 'full' | MissingReason>;
  findUpload(code: RoomCode, fileId: string, now: number): Promise<UnfinishedFile | 'no-file' | MissingReason>;
  /** Records the progress of an upload if it had exactly `from` bytes before. */
  advanceUpload(
    code: RoomCode,
    fileId: string,
    from: number,
    progress: BlobProgress,
    now: number,
  ): Promise<'advanced' | 'stale' | 'no-file' | MissingReason>;
  /** Lists an unfinished file that has all its bytes, as uploaded now. */
  finishUpload(code: RoomCode, fileId: string, now: number): Promise<{ seq: number } | 'no-file' | MissingReason>;
  /** Drops an unfinished file, and moves its bytes to the trash. */
  cancelUpload(code: RoomCode, fileId: string, now: number): Promise<'cancelled' | 'no-file' | MissingReason>;
  /** Drops up to `limit` unfinished files that have expired, and moves their bytes to the trash. Returns their number. */
  expireUploads(now: number, limit: number): Promise<number>;

  /** Ends up to `limit` expired rooms, moves their bytes to the trash, and returns their codes. */
  expireRooms(now: number, limit: number): Promise<RoomCode[]>;
  /** Blobs that no file references any more. */
  listTrash(limit: number): Promise<string[]>;
  /** Claims blobs for removal, so that no other node removes them for a while. Returns those that were claimed. */
  claimTrash(blobs: readonly string[], now: number): Promise<readonly string[]>;
  /** Releases the claim on blobs that could not be removed. */
  releaseTrash(blobs: readonly string[]): Promise<void>;
  /** Deletes the entries of removed blobs. */
  clearTrash(blobs: readonly string[]): Promise<void>;
  /** Which of these names of blobs, finished or not, belong to a file or are in the trash. */
  knownBlobs(names: readonly string[]): Promise<Set<string>>;
  countRooms(now: number): Promise<number>;
}

/** The maximum bytes of stored files; `Infinity` means no limit. */
export interface StorageLimits {
  client: number;
  network: number;
  /** By all clients together. */
  total: number;
}

/** An upload that is about to start. */
export interface StorageRequest {
  blob: string;
  owner: Owner;
  /** When the room of the file expires. */
  expiresAt: number;
  /** When it must have ended. A reservation that still exists then belongs to a crashed node. */
  deadline: number;
  /** Bounds of its size. Both are equal if the client announced it. */
  least: number;
  most: number;
}

interface TextCharge {
  code: RoomCode;
  owner: Owner;
  bytes: number;
}

export interface ReachedLimit {
  scope: keyof StorageLimits;
  /** Stored and reserved bytes. */
  used: number;
  maximum: number;
  /** When the first room with files of this client or network expires. */
  freesAt: number | undefined;
}

type StorageGrant =
  /** `bytes` is at least `least`; `limit` is set if it is less than `most`. */
  { outcome: 'granted'; bytes: number; limit: ReachedLimit | undefined } | { outcome: 'refused'; limit: ReachedLimit };

export interface StorageUsage {
  /** Bytes of all files. */
  stored: number;
  /** Bytes reserved for uploads in progress. */
  reserved: number;
}

/**
 * Bytes of files by owner. A file counts from its reservation until it is removed, at the latest until its bytes are
 * removed. Stored and reserved bytes never exceed a limit, however many uploads start concurrently on all nodes. Close
 * to a limit, an upload may be rejected because of another one that fails later.
 */
export interface StorageAccounts {
  reserve(request: StorageRequest, limits: StorageLimits, now: number): Promise<StorageGrant>;
  /** Moves the deadline of a reservation, while an upload takes long. */
  extend(request: Pick<StorageRequest, 'blob' | 'owner'>, deadline: number): Promise<void>;
  /** For a failed upload. */
  release(request: Pick<StorageRequest, 'blob' | 'owner'>): Promise<void>;
  /** Sets the bytes that the text of a room counts for until the room ends. Returns the limit if it is exceeded. */
  chargeText(charge: TextCharge, limits: StorageLimits, now: number): Promise<ReachedLimit | undefined>;
  /** Releases reservations after their deadline, and the charges of rooms that have ended. */
  releaseAbandoned(now: number): Promise<void>;
  usage(): Promise<StorageUsage>;
  /** Stored and reserved bytes of a client or network. */
  usageOf(account: string): Promise<number>;
}

/** A room as shown to operators, without its content and names. */
export interface RoomSummary extends Omit<Room, 'name'> {
  /** Approximate stored bytes of the text, its log and its history. */
  textBytes: number;
  /** The hash of the client that created it. */
  client: string | undefined;
}

/** The rooms of an engine for the command line, which may run beside servers. */
export interface RoomDirectory {
  list(now: number): AsyncIterable<RoomSummary>;
  find(code: RoomCode, now: number): Promise<RoomSummary | undefined>;
  /** The number of devices in each room; undefined if no server responds. */
  countDevices(codes: readonly RoomCode[], now: number): Promise<number[] | undefined>;
  /** The result for each room; `requested` if a running server has not responded yet. */
  remove(codes: readonly RoomCode[], now: number): Promise<('removed' | 'requested' | MissingReason)[]>;
  close(): Promise<void>;
}

/** A request of the command line to the server that owns the database. */
export type OperatorRequest = { remove: readonly RoomCode[] } | { countDevices: readonly RoomCode[] };

export interface OperatorInbox {
  /** Unanswered requests, oldest first. */
  unanswered(): Promise<{ id: number; request: OperatorRequest }[]>;
  answer(id: number, answer: unknown): Promise<void>;
}

export type Tier = 'free' | 'pro';

export interface Quota {
  tier: Tier;
  limit: number;
  windowMs: number;
}

export interface Allowance {
  granted: boolean;
  remaining: number;
  resetAt: number;
}

/** An embedded engine returns the value immediately, a remote one a promise. A promise per request would be slow. */
export type MaybePromise<T> = T | Promise<T>;

export interface RateCounter {
  /** Grants exactly `limit` requests per window, however many run concurrently. */
  take(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
  peek(client: ClientId, quota: Quota, now: number): MaybePromise<Allowance>;
}

export interface ApiKey {
  id: string;
  name: string;
  tier: Tier;
  createdAt: number;
  revokedAt: number | undefined;
}

export interface KeyStore {
  /** Undefined if an active key already has this name. */
  create(key: { id: string; name: string; tier: Tier; hash: string }, now: number): Promise<ApiKey | undefined>;
  /** Finds an active key by the hash of its text. */
  find(hash: string): Promise<ApiKey | undefined>;
  list(): Promise<ApiKey[]>;
  /** By id or name; undefined if there is no such active key. */
  revoke(idOrName: string, now: number): Promise<ApiKey | undefined>;
}

/** The complete data of a room, without counters of clients, attached devices, claims, and unfinished or removed files. */
export interface RoomRecord extends Pick<RoomState, 'seq' | 'files' | 'pinAttempts'> {
  content: Content;
  revision: number;
  /** The log up to the version of `content`, oldest first. */
  entries: readonly TextEntry[];
  /** Oldest first. */
  history: readonly Checkpoint[];
  keepsHistory: boolean;
  code: RoomCode;
  createdAt: number;
  expiresAt: number;
  pinMac: Uint8Array | undefined;
  name: string | undefined;
  owner: Owner | undefined;
  /** The bytes that the text counts for in the quota of the owner; undefined if it does not count. */
  textCharge: number | undefined;
  /** Clients that gave the correct PIN, least recent first. */
  trusted: ClientId[];
}

export interface KeyRecord extends ApiKey {
  hash: string;
}

/** Rooms and keys in full, for migration to another store. */
export interface Archive {
  /** The codes of all unexpired rooms, read in batches. Rooms that change during the read may be missed. */
  codes(now: number): AsyncIterable<RoomCode>;
  /** Undefined if there is no such room, or it has expired. */
  readRoom(code: RoomCode, now: number): Promise<RoomRecord | undefined>;
  /** Changes nothing if the code is in use, or was recently. */
  restoreRoom(record: RoomRecord, now: number): Promise<'restored' | 'taken'>;
  keys(): Promise<KeyRecord[]>;
  /** Changes nothing if a key has this id, or another active key has its name. */
  restoreKey(key: KeyRecord): Promise<'restored' | 'taken'>;
}

/** One storage engine. Closing it writes everything that is still in memory. */
export interface Store {
  rooms: RoomStore;
  rates: RateCounter;
  keys: KeyStore;
  archive: Archive;
  storage: StorageAccounts;
  /** Set if only the server may change rooms; undefined if the command line can change them directly. */
  inbox: OperatorInbox | undefined;
  /** Rejects if the store does not respond. */
  ping(): Promise<void>;
  /** Rejects with STORAGE_FULL if the disk has too little space for another text of this size. */
  checkSpace(bytes: number): Promise<void>;
  close(): Promise<void>;
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

/** Bytes that continue an unfinished blob. */
export interface BlobAppend {
  unfinished: UnfinishedBlob;
  bytes: Readable;
  signal: AbortSignal;
  /** If they do not match, none of the bytes is kept. */
  checksum: Checksum | undefined;
  /** Called whenever more bytes are durable. They count only when the promise has resolved. */
  onProgress(progress: BlobProgress): Promise<void>;
}

/**
 * The name in the trash of the bytes of an unfinished blob. A blob has other bytes while it is unfinished: a file in
 * another folder, or parts of an object.
 */
export const unfinishedName = (blob: string): string => `${blob}.part`;
export const isUnfinishedName = (name: string): boolean => name.endsWith('.part');
/** The blob of a name in the trash. */
export const blobOf = (name: string): string => (isUnfinishedName(name) ? name.slice(0, -'.part'.length) : name);

export interface BlobStore {
  /**
   * Stores the bytes durably and returns their number. Rejects as soon as they exceed `maxBytes`. The store takes
   * ownership of the chunks: a caller that needs them later must copy them.
   */
  put(blob: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number>;
  /**
   * Adds bytes to an unfinished blob. If their stream breaks, those that have arrived are kept, and the promise rejects.
   * Rejects with FILE_TOO_LARGE if they exceed its size.
   */
  append(append: BlobAppend): Promise<void>;
  /** Turns an unfinished blob that has all its bytes into a blob. May be repeated. */
  finish(unfinished: UnfinishedBlob): Promise<void>;
  /** Undefined if there is no such blob. */
  open(blob: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** The size in bytes; undefined if there is no such blob. */
  size(blob: string): Promise<number | undefined>;
  /** Removes a blob, or the bytes of an unfinished one by their {@link unfinishedName}. */
  remove(name: string): Promise<void>;
  /** Removes bytes of interrupted requests that a finished blob does not contain. The blob is kept. */
  removeLeftovers(blob: string): Promise<void>;
  /** Yields the names of older blobs and unfinished blobs, in batches. Those of running uploads are left out. */
  orphanBlobs(moment: number): AsyncIterable<string[]>;
  /** Rejects with STORAGE_FULL if another file of this size would leave too little space. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}

/** A change of a room, as published on the bus. */
export interface RoomChange {
  /** The seq of the room after the change; 0 if unknown, or if only the devices changed. */
  seq: number;
  /** Set for text changes, so that listeners with the previous version need not read the room. */
  entry?: TextEntry | undefined;
  /** The channel that made the change. Not sent to other processes. */
  origin?: string | undefined;
  /** Only the list of devices changed. */
  devicesOnly?: true | undefined;
  /** The id of a one-time file that was received. */
  received?: string | undefined;
}

/** A lost or late message only delays changes: listeners that miss one read the store. */
export interface EventBus {
  publish(code: RoomCode, change: RoomChange): void;
  subscribe(code: RoomCode, listener: (change: RoomChange) => void): Subscription;
}

export interface Subscription {
  /** Resolves when no further message will be missed. Rejects if the bus is unreachable. */
  readonly ready: Promise<void>;
  leave(): void;
}

/** Lines for the operator. Fields must not contain a PIN, key, text, file name, room code or query. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
