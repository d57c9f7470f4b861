/** Changes of rooms, between nodes. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { TextEntry } from './text.ts';

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
