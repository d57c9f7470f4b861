/** Rooms for operators. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { MissingReason, Room } from './common.ts';

/** A room as shown to operators, without its content and names. */
export interface RoomSummary extends Omit<Room, 'name'> {
  /** Approximate stored bytes of the text, its log and its history. */
  textBytes: number;
  /** The hash of the client that created it. */
  client: string | undefined;
}

/** The unexpired rooms of an engine, for operators. */
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

/** A request of the command line to the server that owns the database. */
export type OperatorRequest = { remove: readonly RoomCode[] } | { countDevices: readonly RoomCode[] };

export interface OperatorInbox {
  /** Unanswered requests, oldest first. */
  unanswered(): Promise<{ id: number; request: OperatorRequest }[]>;
  answer(id: number, answer: unknown): Promise<void>;
}
