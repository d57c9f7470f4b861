/** What the rules of the service work with; put together once, by the composition root. */
import type { BlobStore, Clock, EventBus, RoomStore } from './ports.ts';

export interface Parts {
  rooms: RoomStore;
  blobs: BlobStore;
  bus: EventBus;
  clock: Clock;
  /** Keys the hashes of PINs. */
  secret: string;
}
