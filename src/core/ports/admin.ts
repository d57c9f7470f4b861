/** For operators: blocked addresses, the activity of the server, and rooms without their content. */

import type { ReportReason } from '../../protocol/limits.ts';
import type { RoomCode } from '../../protocol/room-code.ts';
import type { ClientId, CreatedBy, MissingReason, Room } from './basics.ts';

export interface AddressBlock {
  id: string;
  /** In canonical form, such as `198.51.100.0/24`. */
  range: string;
  reason: string;
  createdAt: number;
  endsAt: number | undefined;
}

export interface BlockStore {
  /** Replaces a block of the same range. `full` if there are `maximum` others in force. */
  put(block: AddressBlock, maximum: number): Promise<'stored' | 'full'>;
  remove(id: string): Promise<'removed' | 'unknown'>;
  /** The blocks in force, newest first. */
  list(now: number): Promise<AddressBlock[]>;
}

/** A report about a room. It outlives the room. */
export interface RoomReport {
  id: string;
  code: RoomCode;
  /** Another room may get the code later. */
  roomCreatedAt: number;
  reason: ReportReason;
  comment: string | undefined;
  /** The hash of the client that reported it. */
  client: string;
  createdAt: number;
}

export type ReportLimits = { perRoom: number; perClient: number; inTotal: number; keptMs: number };

export interface ReportStore {
  /** Replaces a report of the same client about the same room. `full` if it would exceed a limit. */
  put(report: RoomReport, limits: ReportLimits): Promise<'stored' | 'full'>;
  /** Those from `since` on, newest first. */
  list(since: number): Promise<RoomReport[]>;
  /** Returns how many there were. */
  remove(ids: readonly string[]): Promise<number>;
  /** Removes those from before this time. */
  expire(before: number): Promise<void>;
}

export type Traffic = { requests: number; refused: number; received: number; sent: number };

export type ActivityTotals = Traffic & { failed: number; roomsCreated: number };

export type ActivityGauges = { rooms: number; channels: number; storedBytes: number };

export type ClientTraffic = Traffic & { client: ClientId };

/** The activity of a node since its last report. */
export interface ActivityReport {
  /** A random id of the process. */
  node: string;
  totals: ActivityTotals;
  clients: readonly ClientTraffic[];
  /** `channels` are those of this node. Undefined if the node stops. */
  gauges: ActivityGauges | undefined;
}

export interface ActivityLimits {
  intervalMs: number;
  keptMs: number;
  /** How long the clients of an hour are kept. */
  clientsKeptMs: number;
  /** Of each hour, the most active ones. */
  clientsPerHour: number;
  /** How long a node counts after its last report. */
  nodeSeenMs: number;
}

export type ActivityInterval = ActivityTotals & ActivityGauges & { at: number };

export type KeyUse = Traffic & { keyId: string; lastUsedAt: number };

export interface ActivityStore {
  /** Adds a report to its interval, to the hour of its clients, and to the use of API keys. Drops what is too old. */
  report(report: ActivityReport, limits: ActivityLimits, now: number): Promise<void>;
  /** The periods that start at `since` or later, oldest first. */
  intervals(since: number): Promise<ActivityInterval[]>;
  /** The sums of the hours that start at `since` or later, in no particular order. */
  clients(since: number): Promise<ClientTraffic[]>;
  keyUse(): Promise<KeyUse[]>;
  /** The channels of each node that reported at `since` or later. */
  nodes(since: number): Promise<{ node: string; channels: number }[]>;
}

/** A room as shown to operators, without its content and names. */
export interface RoomSummary extends Omit<Room, 'name'> {
  /** Approximate stored bytes of the text, its log and its history. */
  textBytes: number;
  /** The hash of the client that created it. */
  client: string | undefined;
  createdBy?: CreatedBy | undefined;
}

export interface RoomSummaries {
  /** In no particular order. Rooms that change during the read may be missed. */
  list(now: number): AsyncIterable<RoomSummary>;
  find(code: RoomCode, now: number): Promise<RoomSummary | undefined>;
}

/** The rooms of an engine for the command line, which may run beside servers. */
export interface RoomDirectory extends RoomSummaries {
  /** The number of devices in each room; undefined if no server responds. */
  countDevices(codes: readonly RoomCode[], now: number): Promise<number[] | undefined>;
  /** The result for each room; `requested` if a running server has not responded yet. */
  remove(codes: readonly RoomCode[], now: number): Promise<('removed' | 'requested' | MissingReason)[]>;
  close(): Promise<void>;
}

export type OperatorRequest = { remove: readonly RoomCode[] } | { countDevices: readonly RoomCode[] };

export interface OperatorInbox {
  /** Unanswered requests, oldest first. */
  unanswered(): Promise<{ id: number; request: OperatorRequest }[]>;
  answer(id: number, answer: unknown): Promise<void>;
}
