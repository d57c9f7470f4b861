/** Tickets let a browser download the files of a room by a link, which cannot send a PIN and must not contain one. */
import type { Clock, RoomState } from './ports.ts';
import { areOfSameRoom, createRoomTokens } from './room-token.ts';

const kind = { purpose: 'ticket', unitMs: 1000, validFor: 60, skew: 120 };

export interface IssuedTicket {
  ticket: string;
  expiresAt: number;
}

export interface Tickets {
  issue(state: Pick<RoomState, 'room' | 'pinMac'>): IssuedTicket;
  /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
  isGenuine(ticket: string, roomId: string): boolean;
  /** Whether a genuine ticket belongs to this very room, with its current PIN. */
  isFor(ticket: string, state: Pick<RoomState, 'room' | 'pinMac'>): boolean;
}

export function createTickets(secret: string, clock: Clock): Tickets {
  const tokens = createRoomTokens(secret, clock, kind);
  return {
    issue(state) {
      const { token, expiresAt } = tokens.issue(state);
      return { ticket: token, expiresAt };
    },
    isGenuine: tokens.isGenuine,
    isFor: (ticket, state) => areOfSameRoom(ticket, tokens.issue(state).token),
  };
}
