/** Access to rooms, and protection against guessing. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { ClientId, Room } from './common.ts';
import type { Content } from './text.ts';

/** An attempt to access a room. */
export interface AccessAttempt {
  /** Undefined if the input cannot be a code. It still counts as a miss. */
  code: RoomCode | undefined;
  client: ClientId;
  /** Whether a page of another site sent it. Such attempts may use half of the client's misses. */
  isCrossSite?: boolean;
  pinMac: Uint8Array | undefined;
  /** The hash of the key `auth`, which an encrypted room requires instead of a PIN. */
  keyHash?: Uint8Array;
  deviceId: string | undefined;
  now: number;
}

export type Admission = { outcome: 'admitted'; room: Room } | Refusal;
export type Reading = { outcome: 'admitted'; content: Content } | Refusal;

export type Refusal =
  | { outcome: 'unknown' }
  | { outcome: 'expired' }
  | { outcome: 'pin-required' }
  | { outcome: 'key-required'; salt: string }
  /** With `isKey`, it is the key of an encrypted room. */
  | { outcome: 'pin-incorrect'; triesLeft: number; lockedUntil: number | undefined; isKey?: true }
  /** With `isForLife`, until the room ends or its PIN changes. Never if the attempt has the right key. */
  | { outcome: 'pin-locked'; until: number; isForLife?: true; isKey?: true }
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
  /** How many clients with wrong keys an encrypted room counts separately. Further ones share one counter. */
  keyCountersPerRoom: number;
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
