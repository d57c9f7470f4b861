/**
 * Everything that an engine keeps, except the bytes of files.
 *
 * Every method of a port is one atomic step of its driver (one SQLite transaction, one Redis script), so core needs no
 * locks. Where core reads before it writes, as for text edits, the store rejects the write if the text has changed
 * since. Times are milliseconds since the epoch and always come from the caller's clock.
 */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { ActivityStore, BlockStore, OperatorInbox, ReportStore, RoomSummaries } from './admin.ts';
import type { ClientId, IdempotencyStore } from './basics.ts';
import type { ApiKey, KeyStore, RateCounter, StorageAccounts } from './clients.ts';
import type { FileStore, TrashClaims, TrashStore, UploadStore } from './files.ts';
import type { LinkStore, RoomDraft, RoomState, RoomStore, StoredLink } from './rooms.ts';
import type { Checkpoint, Content, LastRefs, TextEntry, TextStore } from './texts.ts';
import type { StoredWebhooks, WebhookStore } from './webhooks.ts';

/** One storage engine. Closing it writes everything that is still in memory. */
export interface Store {
  rooms: RoomStore;
  links: LinkStore;
  texts: TextStore;
  files: FileStore;
  uploads: UploadStore;
  trash: TrashStore;
  rates: RateCounter;
  keys: KeyStore;
  archive: Archive;
  storage: StorageAccounts;
  idempotency: IdempotencyStore;
  secretRecord: SecretRecord;
  webhooks: WebhookStore;
  /** For the admin interface. */
  summaries: RoomSummaries;
  blocks: BlockStore;
  reports: ReportStore;
  activity: ActivityStore;
  /** Operations that wait for the store: writes on SQLite, commands on Redis. */
  queueLength(): number;
  /** Rejects if the store does not respond. */
  ping(): Promise<void>;
  /** The policy by which a full store removes data; `noeviction` for none. Undefined if the store does not tell. */
  evictionPolicy(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The parts of a store that not every engine has. */
export interface EngineParts {
  /** Embedded: only the server may change rooms, so the command line leaves requests for it. */
  inbox?: OperatorInbox;
  /** Embedded: rejects with STORAGE_FULL if the disk has too little space for another text of this size. */
  checkSpace?(bytes: number): Promise<void>;
  /** Distributed: nodes agree on who removes which blobs. */
  trashClaims?: TrashClaims;
}

/** The fingerprint of the server's secret, by which a start with another secret is noticed. */
export interface SecretRecord {
  find(): Promise<string | undefined>;
  /** Stores the fingerprint if there is none. Returns the stored one. */
  keep(fingerprint: string): Promise<string>;
  replace(fingerprint: string): Promise<void>;
}

/** The complete data of a room, without counters of clients, attached devices, claims, and unfinished or removed files. */
export interface RoomRecord
  extends Pick<RoomState, 'seq' | 'files' | 'pinAttempts'>,
    Omit<RoomDraft, 'draw' | 'codeLengths' | 'claimedLength' | 'creator' | 'countsText'> {
  code: RoomCode;
  content: Content;
  revision: number;
  /** The whole log up to the version of `content`, oldest first. */
  entries: readonly TextEntry[];
  lastRefs: LastRefs;
  /** Oldest first. */
  history: readonly Checkpoint[];
  /** For an encrypted room: the version of `content.content`, which later entries lead from. */
  fullTextVersion?: number;
  /** The bytes that the text counts for in the quota of the owner; undefined if it does not count. */
  textCharge: number | undefined;
  /** Clients that gave the correct PIN, least recent first. */
  trusted: ClientId[];
  webhooks?: StoredWebhooks;
  links: readonly StoredLink[];
}

export type KeyRecord = ApiKey & { hash: string };

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
