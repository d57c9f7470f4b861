/** Everything that an engine keeps, except the bytes of files. */
import type { ActivityStore, BlockStore } from './admin.ts';
import type { Archive } from './archive.ts';
import type { KeyStore, RateCounter } from './clients.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { OperatorInbox, RoomSummaries } from './operators.ts';
import type { RoomStore } from './rooms.ts';
import type { SecretRecord } from './secret.ts';
import type { StorageAccounts } from './storage.ts';

/** One storage engine. Closing it writes everything that is still in memory. */
export interface Store {
  rooms: RoomStore;
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
  /** Set if only the server may change rooms; undefined if the command line can change them directly. */
  inbox: OperatorInbox | undefined;
  /** Operations that wait for the store: writes on SQLite, commands on Redis. */
  queueLength(): number;
  /** Rejects if the store does not respond. */
  ping(): Promise<void>;
  /** The policy by which a full store removes data; `noeviction` for none. Undefined if the store does not tell. */
  evictionPolicy(): Promise<string | undefined>;
  /** Rejects with STORAGE_FULL if the disk has too little space for another text of this size. */
  checkSpace(bytes: number): Promise<void>;
  close(): Promise<void>;
}
