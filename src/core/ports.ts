/**
 * The interfaces of all that is outside: stores, files, events, time.
 *
 * Every method is one atomic step of its driver (one SQLite transaction, one Redis script), so core holds no locks
 * and never reads in order to write. Times are milliseconds since the epoch and always come from the caller's clock.
 */
import type { Readable } from 'node:stream';
import type { RoomCode } from '../protocol/room-code.ts';
import type { TextEdit } from '../text/edits.ts';

export type Clock = () => number;

/** Who a request counts against: `key:ID` or an address. */
export type ClientId = string;

/** Whose stored bytes they are, as keyed hashes: no address is stored. */
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
  fileCount: number;
  fileBytes: number;
}

export interface RoomDraft {
  /** Random symbols; the code is the prefix whose length `codeLengths` asks for at the present number of rooms. */
  draw: string;
  codeLengths: readonly CodeLength[];
  createdAt: number;
  expiresAt: number;
  pinMac: Uint8Array | undefined;
  /** The maker knows the PIN: strangers' wrong guesses must not lock it out. */
  creator: ClientId;
  /** The creator, for operators; undefined where it is not known. */
  owner: Owner | undefined;
  /** Whether a long text counts towards the quota of the owner. */
  countsText: boolean;
  /** Whether the room keeps checkpoints of its text. */
  keepsHistory: boolean;
}

/** Codes of this length are long enough for up to so many live rooms. */
export interface CodeLength {
  length: number;
  upTo: number;
}

/** Someone at the door of a room. */
export interface AccessAttempt {
  /** Undefined for what cannot be a code at all: it still counts as a miss. */
  code: RoomCode | undefined;
  client: ClientId;
  /** A page of another site sent it: such visits may make half of the client's misses. */
  isCrossSite?: boolean;
  pinMac: Uint8Array | undefined;
  deviceId: string | undefined;
  now: number;
}

export type Admission = { outcome: 'admitted'; room: Room } | Refusal;
export type Reading = { outcome: 'admitted'; content: Content } | Refusal;

export type Refusal =
  | { outcome: 'unknown' }
  | { outcome: 'expired' }
  | { outcome: 'pin-required' }
  | { outcome: 'pin-incorrect'; triesLeft: number; lockedUntil: number | undefined }
  /** For strangers, and for the rest of the room's life where `isForLife`. */
  | { outcome: 'pin-locked'; until: number; isForLife?: true }
  | { outcome: 'too-many-misses'; until: number };

/** The numbers of the guessing guards; drivers count, core decides how much is too much. */
export interface GuardRules {
  triesBeforeLock: number;
  firstLockMs: number;
  longestLockMs: number;
  /** Within a window. */
  wrongPinsPerRoom: number;
  /** Over the life of a room; as long as its PIN stays the same. */
  wrongPinsPerLife: number;
  /** How many of those are kept for networks that have not tried the PIN yet: one try each. */
  wrongPinsOfNewNetworks: number;
  /** Unknown codes and wrong PINs of one client over all rooms; 0 switches the guard off. */
  missesPerClient: number;
  windowMs: number;
  /** How many clients may start a counter within a window; further ones share those of their networks. */
  countersPerWindow: number;
  /** How long an expired room is told apart from one that never was. */
  rememberExpiredMs: number;
  /** How long a request keeps its device attached to the room. */
  deviceSeenMs: number;
  /** How long a channel counts that its node does not renew: that node is gone. */
  channelSeenMs: number;
  devicesPerRoom: number;
}

export interface Content {
  content: string;
  version: number;
  writtenAt: number;
}

/** One change of the text, as the log of a room keeps it. */
export interface TextEntry {
  /** The version that it made; its edits apply to the one before. */
  version: number;
  edits: readonly TextEdit[];
  /** Undefined for a request that named no device. */
  deviceId: string | undefined;
  /** The client's own name for the edit, by which it recognises it after a lost answer. */
  ref: string | undefined;
  writtenAt: number;
}

/**
 * The text of a room as a store keeps it: a full text of some version, and the log of the edits since. The log may
 * reach further back than the full text, for clients that reconnect.
 */
export interface StoredText {
  /** The current text: the full text with the later edits applied. */
  content: Content;
  /** The log, oldest first; where it is not empty, its last entry made the current version. */
  entries: readonly TextEntry[];
  /** Which text the current version is; see {@link TextAppend}. */
  revision: number;
  /** The version of the full text that is stored. */
  fullTextVersion: number;
  /** The version of the newest checkpoint; 0 where there is none. */
  checkpointVersion: number;
  keepsHistory: boolean;
  /** Absent where the text does not count. */
  quota?: TextQuota;
}

/** Towards whose quota a text counts, and with how many bytes. */
export interface TextQuota {
  owner: Owner;
  charged: number;
  /** Bytes of all checkpoints. */
  historyBytes: number;
}

/**
 * Appends an entry to the log if the text that it was made for is still the current one. That is not said by its version
 * alone: of two texts with the same version only one was stored, and an entry made for the other must not follow it.
 */
export interface TextAppend {
  entry: TextEntry;
  /** A random number that stands for the text after the entry, and the one for the text before it; 0 for a new room. */
  revision: number;
  previousRevision: number;
  /** The whole text after it, where the caller has it at hand: a driver may cache it. */
  content: string | undefined;
  /**
   * Stores the full text of the new version, and drops the entries up to a version, maybe this one, from the log. A
   * driver need not look for older entries where the log is known to have none.
   */
  compaction: { content: string; dropThrough: number; isLogEmpty?: boolean } | undefined;
  /** Keeps the text before the edit, and drops the oldest checkpoints over the limits. */
  checkpoint: { checkpoint: Checkpoint; limits: HistoryLimits } | undefined;
}

export type AppendOutcome =
  | { outcome: 'appended'; seq: number }
  /** Another text is the current one; with the entries since the expected version, where the log has them. */
  | { outcome: 'stale'; version: number; revision: number; entries: readonly TextEntry[] | undefined }
  | { outcome: MissingReason };

/** The whole text of the current version. */
export interface CurrentText {
  version: number;
  revision: number;
  content: string;
}

/** A text that a room had, kept so that it can be restored. */
export interface CheckpointInfo {
  version: number;
  writtenAt: number;
  /** Of the device that wrote this version. */
  deviceId: string | undefined;
  /** Bytes of UTF-8. */
  size: number;
}

export interface Checkpoint extends CheckpointInfo {
  content: string;
}

export interface HistoryLimits {
  checkpoints: number;
  /** Of all checkpoints; the newest is kept whatever its size. */
  bytes: number;
}

/** Why an operation found no room, though its caller was let in: its time was up meanwhile, or it was deleted. */
export type MissingReason = 'expired' | 'gone';

export interface StoredFile {
  id: string;
  /** The name of the bytes in the blob store: a hash of the id, so that a look at the disk gives no addresses away. */
  blob: string;
  name: string;
  type: string;
  size: number;
  uploadedAt: number;
  /** The client that uploaded it; undefined for files from before there were quotas. */
  owner: Owner | undefined;
}

export interface FileQuota {
  files: number;
  bytes: number;
}

/** A room as its members see it. */
export interface RoomState {
  room: Room;
  /** Every change of the room has the next one. */
  seq: number;
  text: TextState;
  files: StoredFile[];
  /** Wrong PINs so far. */
  pinAttempts: number;
  /** Of its PIN, if it has one; never sent to anyone. */
  pinMac: Uint8Array | undefined;
}

export interface TextState {
  version: number;
  writtenAt: number;
  /** Undefined where the reader named a version and `entries` lead from that one to this. */
  content: string | undefined;
  /** The entries since the version that the reader named; empty with a whole text. */
  entries: readonly TextEntry[];
}

export interface Device {
  id: string;
  /** For people; undefined when the device gave none. */
  name: string | undefined;
}

/** A live connection of a device. */
export interface Channel {
  id: string;
  device: Device;
}

/** A room that was met past its time is over for good, on the embedded engine: no clock that is set back revives it. */
export interface RoomStore {
  /** Makes the room and returns its code, or undefined when the drawn code is taken. */
  createRoom(draft: RoomDraft): Promise<RoomCode | undefined>;
  /** Counts, checks and, where the attempt names a device, attaches it: the one way into a room. */
  admit(attempt: AccessAttempt): MaybePromise<Admission>;
  /** The same for a attempt that is there for the text, which then comes in the same step. */
  read(attempt: AccessAttempt): MaybePromise<Reading>;
  /** Removes the room and moves its bytes to the trash. */
  deleteRoom(code: RoomCode, now: number): Promise<{ seq: number } | MissingReason>;
  /**
   * Everything that a device in the room may see, as of one moment. Who names the version of the text that it has gets
   * the entries since then, where the log still has them, and else the whole text.
   */
  readState(code: RoomCode, now: number, sinceVersion?: number): Promise<RoomState | MissingReason>;
  /** Notes that a wrong PIN was tried, for the room's members to see; undefined if the room is gone. */
  notePinAttempt(code: RoomCode, now: number): Promise<{ seq: number } | undefined>;
  /** Forgets all wrong PINs, and who gave the right one: for a PIN that has changed. `client` knows the new one. */
  resetPinGuard(code: RoomCode, client: ClientId, now: number): Promise<{ seq: number } | MissingReason>;

  /** Counts a channel's device as attached until it is detached, or not renewed in time. */
  attachDevice(code: RoomCode, channel: Channel, now: number): Promise<'attached' | 'full'>;
  renewDevices(code: RoomCode, channels: readonly Channel[], now: number): Promise<void>;
  detachDevice(code: RoomCode, channelId: string): Promise<void>;
  /** Distinct devices: those with a channel, and those that were seen of late. */
  listDevices(code: RoomCode, now: number): Promise<Device[]>;

  /** The text with its log, for who is about to edit it. */
  readText(code: RoomCode, now: number): Promise<StoredText | MissingReason>;
  appendText(code: RoomCode, append: TextAppend): Promise<AppendOutcome>;

  /** Newest first. */
  listHistory(code: RoomCode, now: number): Promise<CheckpointInfo[] | MissingReason>;
  readCheckpoint(code: RoomCode, version: number, now: number): Promise<Checkpoint | 'no-checkpoint' | MissingReason>;
  /** Erases the checkpoints and the log, where this is still the current text. */
  clearHistory(code: RoomCode, current: CurrentText, now: number): Promise<'cleared' | 'stale' | MissingReason>;

  /** Its bytes count for its owner from here on, whether they were reserved or not. */
  addFile(code: RoomCode, file: StoredFile, quota: FileQuota): Promise<{ seq: number } | 'full' | MissingReason>;
  listFiles(code: RoomCode, now: number): Promise<StoredFile[] | MissingReason>;
  /** The file of a live room, whichever it is. */
  findFile(fileId: string, now: number): Promise<StoredFile | undefined>;
  removeFile(code: RoomCode, fileId: string, now: number): Promise<{ seq: number } | 'no-file' | MissingReason>;

  /** Ends up to `limit` rooms past their time; returns their codes. Their bytes go to the trash. */
  expireRooms(now: number, limit: number): Promise<RoomCode[]>;
  /** Blobs that no file names any more. */
  listTrash(limit: number): Promise<string[]>;
  /** Those of these blobs that are the caller's to remove, and for a while no other node's; in the trash or not. */
  claimTrash(blobs: readonly string[], now: number): Promise<readonly string[]>;
  /** Gives up the claim to what could not be removed. */
  releaseTrash(blobs: readonly string[]): Promise<void>;
  /** Forgets what has been removed. */
  clearTrash(blobs: readonly string[]): Promise<void>;
  /** Which of these blobs belong to a file or wait in the trash. */
  knownBlobs(blobs: readonly string[]): Promise<Set<string>>;
  countRooms(now: number): Promise<number>;
}

/** How many bytes of files may be stored; `Infinity` for no limit. */
export interface StorageLimits {
  client: number;
  network: number;
  /** By everyone together. */
  total: number;
}

/** An upload that is about to begin. */
export interface StorageRequest {
  blob: string;
  owner: Owner;
  /** When the room of the file expires. */
  expiresAt: number;
  /** When it must be over; a reservation that is neither used nor released by then belongs to a node that crashed. */
  deadline: number;
  /** How many bytes it has: both are the same where the sender announced it. */
  least: number;
  most: number;
}

export interface TextCharge {
  code: RoomCode;
  owner: Owner;
  bytes: number;
}

export interface ReachedLimit {
  scope: keyof StorageLimits;
  /** Bytes that are stored or reserved. */
  used: number;
  maximum: number;
  /** When the first room with files of this client or network expires. */
  freesAt: number | undefined;
}

export type StorageGrant =
  /** At least as many bytes as it needs; with what kept it from getting the most. */
  { outcome: 'granted'; bytes: number; limit: ReachedLimit | undefined } | { outcome: 'refused'; limit: ReachedLimit };

export interface StorageUsage {
  /** Bytes of all files. */
  stored: number;
  /** Bytes that uploads in progress may still store. */
  reserved: number;
}

/**
 * Bytes of files by owner. A file counts from the reservation that precedes it until it is removed, at the latest until
 * its bytes are. Stored and reserved bytes never exceed a limit, however many uploads begin at once on however many
 * nodes; close to a limit, an upload may be refused for one that then fails.
 */
export interface StorageAccounts {
  reserve(request: StorageRequest, limits: StorageLimits, now: number): Promise<StorageGrant>;
  /** For an upload that stored nothing. */
  release(request: Pick<StorageRequest, 'blob' | 'owner'>): Promise<void>;
  /** Lets the text of a room count with so many bytes until the room ends; returns the limit that refuses it. */
  chargeText(charge: TextCharge, limits: StorageLimits, now: number): Promise<ReachedLimit | undefined>;
  /** Ends the reservations past their deadline, and the charges of rooms that have ended. */
  releaseAbandoned(now: number): Promise<void>;
  usage(): Promise<StorageUsage>;
  /** Bytes that a client or a network has stored or reserved. */
  usageOf(account: string): Promise<number>;
}

/** A room as operators see it: nothing that people wrote, and no names. */
export interface RoomSummary extends Room {
  /** Bytes of the text, its log and its history, about as they are stored. */
  textBytes: number;
  /** Hash of the client that created it. */
  client: string | undefined;
}

/** The rooms of an engine for the command line, beside servers that may be running. */
export interface RoomDirectory {
  list(now: number): AsyncIterable<RoomSummary>;
  find(code: RoomCode, now: number): Promise<RoomSummary | undefined>;
  /** How many devices are in each of these rooms; undefined where no server answers. */
  countDevices(codes: readonly RoomCode[], now: number): Promise<number[] | undefined>;
  /** What became of each; `requested` where a running server has been asked and has not answered yet. */
  remove(codes: readonly RoomCode[], now: number): Promise<('removed' | 'requested' | MissingReason)[]>;
  close(): Promise<void>;
}

/** What the command line asks of the server that owns the database. */
export type OperatorRequest = { remove: readonly RoomCode[] } | { countDevices: readonly RoomCode[] };

export interface OperatorInbox {
  /** Those that are not answered, oldest first. */
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

/** What an engine in this process knows at once, and one elsewhere has to ask for: every request waits for it. */
export type MaybePromise<T> = T | Promise<T>;

export interface RateCounter {
  /** Grants exactly `limit` requests a window, however many ask at once. */
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
  /** Undefined when the name is taken by a key that is not revoked. */
  create(key: { id: string; name: string; tier: Tier; hash: string }, now: number): Promise<ApiKey | undefined>;
  /** A key that is in force, by the hash of its text. */
  find(hash: string): Promise<ApiKey | undefined>;
  list(): Promise<ApiKey[]>;
  /** By id or name; undefined if no key in force is called so. */
  revoke(idOrName: string, now: number): Promise<ApiKey | undefined>;
}

/** All that makes a room. Counters of its visitors and the devices that are in it are not part of it. */
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
  owner: Owner | undefined;
  /** With how many bytes the text counts towards the quota of the owner; undefined where it does not count. */
  textCharge: number | undefined;
  /** Those who gave the right PIN, longest ago first. */
  trusted: ClientId[];
}

export interface KeyRecord extends ApiKey {
  hash: string;
}

/** Rooms and keys as they are kept, for moving them to another store. */
export interface Archive {
  /** The codes of all rooms that are live at `now`, read in portions; those that change meanwhile may be missed. */
  codes(now: number): AsyncIterable<RoomCode>;
  /** Undefined when there is no such room, or its time is up. */
  readRoom(code: RoomCode, now: number): Promise<RoomRecord | undefined>;
  /** Changes nothing where the code is in use, or was until of late. */
  restoreRoom(record: RoomRecord, now: number): Promise<'restored' | 'taken'>;
  keys(): Promise<KeyRecord[]>;
  /** Changes nothing where there is a key of this id, or another in force has its name. */
  restoreKey(key: KeyRecord): Promise<'restored' | 'taken'>;
}

/** What one engine offers. Closing it writes everything that is still in memory. */
export interface Store {
  rooms: RoomStore;
  rates: RateCounter;
  keys: KeyStore;
  archive: Archive;
  storage: StorageAccounts;
  /** Where the server alone may change the rooms; undefined where the command line can do it itself. */
  inbox: OperatorInbox | undefined;
  /** Rejects when the store cannot answer. */
  ping(): Promise<void>;
  /** Rejects with STORAGE_FULL when the disk has too little room for a further text of this size. */
  checkSpace(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

export interface BlobStore {
  /**
   * Keeps the bytes durably under the name and returns how many they were; over `maxBytes` it refuses at once. The chunks
   * of the stream become the store's own: whoever needs them afterwards keeps a copy.
   */
  put(blob: string, bytes: Readable, maxBytes: number, signal: AbortSignal): Promise<number>;
  /** Undefined when there is no such blob. */
  open(blob: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** How many bytes it has; undefined when there is no such blob. */
  size(blob: string): Promise<number | undefined>;
  remove(blob: string): Promise<void>;
  /** Removes the remains of uploads that ended before `moment`, and yields the blobs older than it, in portions. */
  orphanBlobs(moment: number): AsyncIterable<string[]>;
  /** Rejects with STORAGE_FULL when a further file of this size would leave too little room. */
  checkSpace(bytes: number): Promise<void>;
  ping(): Promise<void>;
}

/** What the bus tells of a change of a room. */
export interface RoomChange {
  /** The seq of the room after it; 0 where it is not known, or only the devices changed. */
  seq: number;
  /** Where the change was one of the text: listeners that have everything before it need not read the room. */
  entry?: TextEntry | undefined;
  /** The channel that made the change. It stays within this process. */
  origin?: string | undefined;
  /** Only the list of devices changed. */
  devicesOnly?: true | undefined;
}

/** A lost or late message delays news and loses none: listeners that miss something read the store. */
export interface EventBus {
  publish(code: RoomCode, change: RoomChange): void;
  subscribe(code: RoomCode, listener: (change: RoomChange) => void): Subscription;
}

export interface Subscription {
  /** From here on nothing that is published is missed. Rejects when the bus cannot be reached. */
  readonly ready: Promise<void>;
  leave(): void;
}

/** Lines for the operator. Fields must not hold a PIN, a key, a text, a file name, a room code or a query. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
