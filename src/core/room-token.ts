/**
 * Signed tokens that grant access to one room for a short time. A token is derived from the room, its PIN and the server
 * secret. So every node can verify it, no store keeps it, and it becomes invalid when the room ends or its PIN changes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseRoomCode } from '../protocol/room-code.ts';
import type { Clock, RoomState } from './ports.ts';

export interface TokenKind {
  /** Part of the signature: a token of one kind is not valid as another. */
  purpose: string;
  /** The unit of the other times, in milliseconds. */
  unitMs: number;
  validFor: number;
  /** The maximum clock difference between nodes. */
  skew: number;
}

export interface IssuedToken {
  token: string;
  expiresAt: number;
  /** The input that it was derived from; as secret as the PIN. */
  source: string;
}

type TokenRoom = Pick<RoomState, 'room' | 'pinMac'>;

export interface RoomTokens {
  /** The token is the same for all callers during one unit of time. Returns `last` if its input is unchanged. */
  issue(state: TokenRoom, last?: IssuedToken): IssuedToken;
  /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
  isGenuine(token: string, roomId: string): boolean;
}

export function createRoomTokens(secret: string, clock: Clock, kind: TokenKind): RoomTokens {
  const { purpose, unitMs, validFor, skew } = kind;
  const mac = (bytes: number, ...fields: (string | number)[]): string =>
    createHmac('sha256', secret).update(fields.join('\n')).digest().subarray(0, bytes).toString('base64url');
  const seal = (code: string, expiry: string, stamp: string) => mac(24, purpose, code, expiry, stamp);
  const unitsNow = () => clock() / unitMs;

  return {
    issue({ room: { code, createdAt }, pinMac }, last) {
      const expiresIn = Math.ceil(unitsNow()) + validFor;
      const expiry = expiresIn.toString(36);
      const room = ['room', code, createdAt, Buffer.from(pinMac ?? []).toString('hex')];
      const source = [expiry, ...room].join();
      // Rooms are read often, and computing the hashes would take most of that time.
      if (last?.source === source) return last;
      const stamp = mac(12, ...room);
      const token = [expiry, stamp, seal(code, expiry, stamp)].join('.');
      return { token, expiresAt: expiresIn * unitMs, source };
    },

    isGenuine(token, roomId) {
      const [, expiry = '', stamp = '', found = ''] = format.exec(token) ?? [];
      const code = parseRoomCode(roomId);
      if (!code || found === '') return false;
      const left = Number.parseInt(expiry, 36) - unitsNow();
      // A token that is valid for too long was issued by a clock that was ahead.
      if (left <= 0 || left > validFor + 1 + skew) return false;
      return timingSafeEqual(Buffer.from(found), Buffer.from(seal(code, expiry, stamp)));
    },
  };
}

const format = /^([0-9a-z]{1,8})\.([\w-]{16})\.([\w-]{32})$/;

/** Whether two genuine tokens belong to the same room with the same PIN. */
export function areOfSameRoom(one: string, other: string): boolean {
  const [stamp, otherStamp] = [stampOf(one), stampOf(other)];
  return stamp.length === otherStamp.length && timingSafeEqual(stamp, otherStamp);
}

const stampOf = (token: string) => Buffer.from(token.split('.')[1] ?? '');
