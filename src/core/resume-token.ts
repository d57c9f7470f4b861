/**
 * Resume tokens: with one, a client opens a live channel to a room that it was in minutes ago, whatever limit is used
 * up. A token is made of the room, its PIN and the secret of the service. So every node can check it, no store keeps
 * it, and it ends with the room or with its PIN.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseRoomCode } from '../protocol/room-code.ts';
import type { Clock, RoomState } from './ports.ts';

const minuteMs = 60_000;
/** More than clients use it for; see `tokenLastsMs`. It may be a while old when it is sent. */
const validMinutes = 12;
/** How far the clocks of nodes may differ. */
const skewMinutes = 2;

export interface IssuedToken {
  token: string;
  /** What it was made of; as secret as the PIN. */
  source: string;
}

export interface ResumeTokens {
  /** The same for everyone in the room, and for a minute: the last one again, where it would be made of the same. */
  issue(state: Pick<RoomState, 'room' | 'pinMac'>, last?: IssuedToken): IssuedToken;
  /** Whether this service issued it for a room of this code in the last minutes; maybe for an earlier one. */
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
      // Rooms are read often, and there may be many: the hashes would take most of that time.
      if (last?.source === source) return last;
      const stamp = mac(12, ...room);
      return { token: [expiry, stamp, seal(code, expiry, stamp)].join('.'), source };
    },

    isGenuine(token, roomId) {
      const [, expiry = '', stamp = '', found = ''] = format.exec(token) ?? [];
      const code = parseRoomCode(roomId);
      if (!code || found === '') return false;
      const left = Number.parseInt(expiry, 36) - minutesNow();
      // One that is valid for too long is of a clock that was ahead.
      if (left <= 0 || left > validMinutes + 1 + skewMinutes) return false;
      return timingSafeEqual(Buffer.from(found), Buffer.from(seal(code, expiry, stamp)));
    },
  };
}

const format = /^([0-9a-z]{1,8})\.([\w-]{16})\.([\w-]{32})$/;

/** Whether two genuine tokens are of the same room, with the same PIN. */
export const areOfSameRoom = (one: string, other: string): boolean => stampOf(one) === stampOf(other);

const stampOf = (token: string) => token.split('.')[1];
