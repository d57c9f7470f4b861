/** Input and report of a migration. */
import type { Archive, BlobStore, Clock, RoomStore, SecretRecord, TrashStore } from '../core/ports.ts';

export interface MigrationEnd {
  rooms: Pick<RoomStore, 'countRooms'>;
  trash: Pick<TrashStore, 'knownBlobs'>;
  archive: Archive;
  blobs: BlobStore;
  secretRecord: SecretRecord;
}

export interface Migration {
  from: MigrationEnd;
  to: MigrationEnd;
  clock: Clock;
  /** Aborts between two steps or within a file. */
  signal: AbortSignal;
  progress: (progress: Progress) => void;
}

export interface Progress {
  phase: 'moving' | 'checking';
  rooms: number;
  totalRooms: number;
  bytes: number;
}

export interface MigrationReport {
  moved: { keys: number; rooms: number; files: number; bytes: number };
  checked: { keys: number; rooms: number; files: number };
  differences: Differences;
}

export interface Differences {
  count: number;
  /** Descriptions of the first ones. */
  first: string[];
}
