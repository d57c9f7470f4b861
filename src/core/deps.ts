/** The dependencies of the core, created once by the composition root. */

import type { RoomLimits } from '../protocol/limits.ts';
import type { WorkBudget } from './defence/work.ts';
import type { Clock } from './ports/basics.ts';
import type { StorageAccounts } from './ports/clients.ts';
import type { BlobStore } from './ports/files.ts';
import type { EventBus } from './ports/rooms.ts';
import type { EngineParts, Store } from './ports/store.ts';
import type { StorageQuota } from './storage-quota.ts';

export interface CoreDeps
  extends Pick<Store, 'rooms' | 'links' | 'texts' | 'files' | 'uploads' | 'trash' | 'reports'>,
    Pick<EngineParts, 'trashClaims'> {
  blobs: BlobStore;
  bus: EventBus;
  storage: StorageAccounts;
  quota: StorageQuota;
  limits: RoomLimits;
  clock: Clock;
  /** The CPU time of clients; undefined if it is not limited. */
  work?: WorkBudget;
  /** How long after its creation a room ends at the latest, however often it is extended; undefined for no such limit. */
  longestAgeMs?: number | undefined;
  /** Keys the hashes of PINs. */
  secret: string;
}
