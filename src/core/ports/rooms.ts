/** Rooms: access by codes and links, the guards against guessing, devices, changes on the bus, and the stores. */

import type { LinkRole } from '../../protocol/link-rights.ts';
import type { LinkId, RoomCode } from '../../protocol/room-code.ts';
import type { CaretMoved, SealedCaretMoved } from '../../protocol/types.ts';
import type {
  ClientId,
  CreatedBy,
  FinishedRequest,
  InRoom,
  MaybePromise,
  Owner,
  Repeated,
  RequestRecord,
  Room,
} from './basics.ts';
import type { Allowance, Quota, Spending } from './clients.ts';
import type { StoredFile } from './files.ts';
import type { Content, KnownText, TextEntry, TextState } from './texts.ts';

export interface RoomDraft extends Pick<Room, 'createdAt' | 'expiresAt' | 'salt' | 'name' | 'extendMs'> {
  /** Random symbols. The code is a prefix, whose length `codeLengths` gives for the current number of rooms. */
  draw: string;
  codeLengths: readonly CodeLength[];
  /** The length of the code if an earlier run of the same request has claimed it. */
  claimedLength?: number;
  /** The MAC of its PIN, or the verifier of an encrypted room. */
  pinMac: Uint8Array | undefined;
  /** The creator knows the PIN, so wrong PINs of others must not lock it out. */
  creator: ClientId;
  /** The creator, for operators; undefined if unknown. */
  owner: Owner | undefined;
  createdBy?: CreatedBy | undefined;
  /** Whether a long text counts against the quota of the owner. */
  countsText: boolean;
  keepsHistory: boolean;
}

/** A change of a room by an admitted client. Fields that are undefined stay as they are. */
export interface RoomUpdate extends Pick<AccessAttempt, 'client' | 'isCrossSite'> {
  expiresAt?: number | undefined;
  /** Null: writes no longer move the expiry. */
  extendMs?: number | null | undefined;
  /** By a write: the PIN does not matter. `pin-changed` if writes no longer move the expiry, or it is later already. */
  isExtension?: true;
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
export type CodeLength = { length: number; upTo: number };

export interface RoomState {
  room: Room;
  /** Increases with every change of the room. */
  seq: number;
  text: TextState;
  files: StoredFile[];
  /** Wrong PINs so far. */
  pinAttempts: number;
  /** The MAC of its PIN, or the verifier of an encrypted room, if it has one. Never sent to clients. */
  pinMac: Uint8Array | undefined;
  /** Its links that are not revoked. Never sent to clients. */
  links: readonly LinkId[];
}

export interface Device {
  id: string;
  /** A display name; undefined if the device sent none. */
  name: string | undefined;
  /** Set if it has access by a link. */
  role?: LinkRole;
  /** The colour that it prefers, or that `attachDevice` gave it. */
  color?: number | undefined;
}

/** A live connection of a device. */
export type Channel = { id: string; device: Device };

type CreateOutcome = RoomCode | undefined | Repeated | { claimed: FinishedRequest };

/** On the embedded engine, a room that was found expired stays expired, even if the clock is set back. */
export interface RoomStore {
  /**
   * Creates the room and returns its code, or undefined if the code is in use. `claimed`: an earlier run of the same
   * request has claimed a code, and may not have created the room. Use the draw of its result, and `claimedLength`.
   */
  createRoom(draft: RoomDraft, record?: RequestRecord): Promise<CreateOutcome>;
  /** Counts and checks an attempt, and attaches its device if it names one. */
  admit(attempt: AccessAttempt): MaybePromise<Admission>;
  /** Like `admit`, and reads the text in the same step. */
  read(attempt: AccessAttempt): MaybePromise<Reading>;
  /** Removes the room and moves its bytes to the trash. */
  deleteRoom(code: RoomCode, now: number): InRoom<{ seq: number }>;
  /**
   * A consistent snapshot of everything that a device may see. With a known text, it contains the entries since then if
   * the log has them and they are not too many, and the whole text otherwise.
   */
  readState(code: RoomCode, now: number, known?: KnownText): InRoom<RoomState>;
  /** Records a wrong PIN for the members of the room; undefined if there is no such room. */
  notePinAttempt(code: RoomCode, now: number): Promise<{ seq: number } | undefined>;
  /** Changes a room, with everything that ends with it. `pin-changed` if the client must be admitted again. */
  updateRoom(code: RoomCode, update: RoomUpdate, now: number): InRoom<{ seq: number; room: Room } | 'pin-changed'>;

  /**
   * The device of a channel counts as attached until it is detached, or not renewed in time. Returns the device with its
   * colour, if it prefers one: that of its other channels, the one that it had while others stayed in the room, or else
   * the next one after the preferred that no other device has or had.
   */
  attachDevice(code: RoomCode, channel: Channel, now: number): Promise<Device | 'full'>;
  renewDevices(code: RoomCode, channels: readonly Channel[], now: number): Promise<void>;
  detachDevice(code: RoomCode, channelId: string): Promise<void>;
  /** Distinct devices: those with a channel, and those with a recent request. */
  listDevices(code: RoomCode, now: number): Promise<Device[]>;

  /** Ends up to `limit` expired rooms, moves their bytes to the trash, and returns their codes. */
  expireRooms(now: number, limit: number): Promise<RoomCode[]>;
  countRooms(now: number): Promise<number>;
}

export interface AccessAttempt {
  /** Undefined if the input cannot be a code. It still counts as a miss. */
  code: RoomCode | undefined;
  client: ClientId;
  /** Whether a page of another site sent it. Such attempts may use half of the client's misses. */
  isCrossSite?: boolean;
  /** Computed when it is first read, which takes longer than comparing the PIN with a known one. */
  readonly pinMac: Uint8Array | undefined;
  /** The PIN itself, for stores that know the right one. */
  pin?: string | undefined;
  /** The hash of the key `auth`, which an encrypted room requires instead of a PIN. */
  keyHash?: Uint8Array | undefined;
  deviceId: string | undefined;
  now: number;
  /** Counts this request too, if it is not counted yet and the store counts with accesses. It needs a code. */
  spending?: Spending | undefined;
}

export type Admission = { outcome: 'admitted'; room: Room } | Refusal;
export type Reading = { outcome: 'admitted'; content: Content; sealed?: SealedLog } | Refusal;

/** In an encrypted room, the content is the full text of a version, and these are the entries since then. */
export type SealedLog = { contentVersion: number; entries: TextEntry[] };

export type Refusal =
  | { outcome: 'unknown' }
  | { outcome: 'expired' }
  | { outcome: 'pin-required' }
  | { outcome: 'key-required'; salt: string }
  /** With `isKey`, it is the key of an encrypted room. */
  | { outcome: 'pin-incorrect'; triesLeft: number; lockedUntil: number | undefined; isKey?: true }
  /** With `isForLife`, until the room ends or its PIN changes. Never if the attempt has the right key. */
  | { outcome: 'pin-locked'; until: number; isForLife?: true; isKey?: true }
  | { outcome: 'too-many-misses'; until: number }
  /** The request was not counted, because the client has reached its limit. Nothing else was checked. */
  | { outcome: 'over-limit'; quota: Quota; allowance: Allowance };

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
  deviceColors: number;
}

/** A change of a room, as published on the bus. */
export interface RoomChange {
  /** The seq of the room after the change; 0 if unknown, or if only the devices changed. */
  seq: number;
  /** Set for text changes, so that listeners with the previous version need not read the room. */
  entry?: TextEntry | undefined;
  /** The channel that made the change. Not sent to other processes. */
  origin?: string | undefined;
  devicesOnly?: true | undefined;
  /** The id of a one-time file that was received. */
  received?: string | undefined;
  /** A device has moved its caret, and nothing else changed. */
  caret?: CaretMoved | SealedCaretMoved | undefined;
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

export interface StoredLink {
  id: LinkId;
  role: LinkRole;
  /** A name that members gave it, sealed in an encrypted room; undefined if it has none. */
  name: string | undefined;
  createdAt: number;
  /** Undefined if it ends with its room. */
  expiresAt: number | undefined;
  /** Updated at most once a minute; undefined if it was never used. */
  lastUsed: number | undefined;
}

/** An attempt to access a room by a link, which needs neither a PIN nor a key. */
export interface LinkAttempt extends Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'> {
  id: LinkId;
  /** The device that the request names. It is attached with the role and the name of the link. */
  deviceId: string | undefined;
}

export type LinkAdmission =
  | { outcome: 'admitted'; room: Room; link: StoredLink }
  | Extract<Refusal, { outcome: 'unknown' | 'expired' | 'too-many-misses' }>;

export interface LinkStore {
  /** Counts an unknown link as a miss, and attaches the device. */
  admit(attempt: LinkAttempt): MaybePromise<LinkAdmission>;
  /** Without the guards; undefined if the link is unknown, revoked or expired, or its room has ended. */
  findLink(id: LinkId, now: number): MaybePromise<{ code: RoomCode; link: StoredLink } | undefined>;
  /** `full` if the room has `most` links that have not expired. */
  createLink(code: RoomCode, link: StoredLink, most: number, now: number): InRoom<'created' | 'full'>;
  /** Oldest first, without expired ones. */
  listLinks(code: RoomCode, now: number): InRoom<StoredLink[]>;
  /** Removes a link with its unfinished uploads. From now on it adds no file. */
  revokeLink(code: RoomCode, id: LinkId, now: number): InRoom<'revoked' | 'no-link'>;
  noteUse(code: RoomCode, id: LinkId, now: number): Promise<void>;
}

/** Whether a link has expired. Its room may end earlier. */
export const isExpired = ({ expiresAt }: Pick<StoredLink, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;
