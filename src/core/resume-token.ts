/** Resume tokens let a client reconnect to a room that it left minutes ago, even if its limits are used up. */
import type { Clock } from './ports.ts';
import { createRoomTokens, type RoomTokens } from './room-token.ts';

export { areOfSameRoom, type IssuedToken } from './room-token.ts';
export type ResumeTokens = RoomTokens;

const kind = {
  purpose: 'resume',
  unitMs: 60_000,
  // Longer than clients use it (see `tokenLastsMs`), because it may already be old when it is sent.
  validFor: 12,
  skew: 2,
};

export const createResumeTokens = (secret: string, clock: Clock): ResumeTokens => createRoomTokens(secret, clock, kind);
