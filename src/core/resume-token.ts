/**
 * Resume tokens let a client reconnect to a room that it left minutes ago, even if its limits are used up. A token is
 * derived from the room, its PIN and the server secret. So every node can verify it, no store keeps it, and it becomes
 * invalid when the room ends or its PIN changes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseRoomCode } from '../protocol/room-code.ts';
import type { Clock, RoomState } from './ports.ts';

const minuteMs = 60_000;
/** Longer than clients use it (see `tokenLastsMs`), because it may already be old when it is sent. */
const validMinutes = 12;
/** The maximum clock difference between nodes. */
const skewMinutes = 2;

export interface IssuedToken {
  token: string;
  /** The input that it was derived from; as secret as the PIN. */
  source: string;
}

export interface ResumeTokens {
  /** The token is the same for all members during one minute. Returns `last` if its input is unchanged. */
  issue(state: Pick<RoomState, 'room' | 'pinMac'>, last?: IssuedToken): IssuedToken;
  /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
  isGenuine(token: string, roomId: string): boolean;
}

export function createResumeTokens(secret: string, clock: Clock): ResumeTokens {
  const mac = (bytes: number, ...fields: (string | number)[]): string =>
    createHmac('sha256', secret).update(fields.join('\n')).digest().subarray(0, bytes).toString('base64url');
  const seal = (code: string, expiry: string, stamp: string) => mac(24, 'resume', code, expiry, stamp);
  const minutesNow = () => clock() / minuteMs;

  return {
    issue({ room: { code, createdAt }, pinMac }, last) {
      const expiry = (Math.ceil(minutesNow()) + validMinutes).toString(36);
      const room = ['room', code, createdAt, Buffer.from(pinMac ?? []).toString('hex')];
      const source = [expiry, ...room].join();
      // Rooms are read often, and computing the hashes would take most of that time.
      if (last?.source === source) return last;
      const stamp = mac(12, ...room);
      return { token: [expiry, stamp, seal(code, expiry, stamp)].join('.'), source };
    },

    isGenuine(token, roomId) {
      const [, expiry = '', stamp = '', found = ''] = format.exec(token) ?? [];
      const code = parseRoomCode(roomId);
      if (!code || found === '') return false;
      const minutesLeft = Number.parseInt(expiry, 36) - minutesNow();
      // A token that is valid for too long was issued by a clock that was ahead.
      if (minutesLeft <= 0 || minutesLeft > validMinutes + 1 + skewMinutes) return false;
      return timingSafeEqual(Buffer.from(found), Buffer.from(seal(code, expiry, stamp)));
    },
  };
}

const format = /^([0-9a-z]{1,8})\.([\w-]{16})\.([\w-]{32})$/;

/** Whether two genuine tokens belong to the same room with the same PIN. */
export const areOfSameRoom = (one: string, other: string): boolean => stampOf(one) === stampOf(other);

const stampOf = (token: string) => token.split('.')[1];
