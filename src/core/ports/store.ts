/** Everything that an engine keeps, except the bytes of files. */
import type { ActivityStore, BlockStore, OperatorInbox, RoomSummaries } from './admin.ts';
import type { Archive } from './archive.ts';
import type { KeyStore, RateCounter, StorageAccounts } from './clients.ts';
import type { FileStore, TrashClaims, TrashStore, UploadStore } from './files.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { RoomStore } from './rooms.ts';
import type { TextStore } from './texts.ts';

/** One storage engine. Closing it writes everything that is still in memory. */
export interface Store {
  rooms: RoomStore;
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
  /** For the admin interface. */
  summaries: RoomSummaries;
  blocks: BlockStore;
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
