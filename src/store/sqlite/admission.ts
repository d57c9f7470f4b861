/** Checks access to rooms. Synchronous unless an expired room has to be ended, because every request needs it. */
import { timingSafeEqual } from 'node:crypto';
import type { AccessAttempt, GuardRules, MaybePromise, Refusal, RoomStore } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { DeviceList } from './device-list.ts';
import type { GuessGuard } from './guess-guard.ts';
import type { RoomAccess } from './room-cache.ts';
import type { RoomReader } from './room-reader.ts';

interface AdmissionParts {
  rooms: RoomReader;
  rules: GuardRules;
  guard: GuessGuard;
  devices: DeviceList;
}

export function createAdmission({ rooms, rules, guard, devices }: AdmissionParts): Pick<RoomStore, 'admit' | 'read'> {
  const { find, findToRead, readContent, missingReason, endForGood } = rooms;

  /** Checks access to a room. Returns the room or the refusal. */
  function checkAccess<R extends RoomAccess>(
    attempt: AccessAttempt,
    lookUp: (code: RoomCode) => R | undefined,
  ): R | MaybePromise<Refusal> {
    const { code, deviceId, now } = attempt;
    const until = guard.missedOutUntil(attempt);
    if (until !== undefined && !attempt.keyHash) return { outcome: 'too-many-misses', until };
    const found = code && lookUp(code);
    if (until !== undefined && !hasRightKey(found, attempt)) return { outcome: 'too-many-misses', until };
    if (!found) return refuseMissing(attempt, undefined);
    if (found.room.expiresAt <= now) return refuseExpired(found.room, attempt);

    const { room, pinMac: roomMac } = found;
    if (roomMac) {
      const isKey = room.salt !== undefined && ({ isKey: true } as const);
      const proof = isKey ? attempt.keyHash : attempt.pinMac;
      if (!proof) return room.salt === undefined ? { outcome: 'pin-required' } : keyRequired(room.salt);
      const isRight = () => timingSafeEqual(roomMac, proof);
      const trial = isKey ? guard.tryKey(room, attempt, isRight) : guard.tryPin(room, attempt, isRight);
      if (trial.outcome === 'locked') return { ...trial, outcome: 'pin-locked', ...isKey };
      if (trial.outcome === 'wrong') return { ...trial, outcome: 'pin-incorrect', ...isKey };
    }
    if (deviceId) devices.seen(room.code, deviceId, now);
    return found;
  }

  /** Counts before it waits, so that concurrent attempts are counted too. */
  async function refuseExpired({ code, expiresAt }: RoomAccess['room'], attempt: AccessAttempt): Promise<Refusal> {
    const admission = refuseMissing(attempt, expiresAt);
    await endForGood(code, attempt.now);
    return admission;
  }

  function refuseMissing(attempt: AccessAttempt, expiredAt: number | undefined): Refusal {
    const { code, now } = attempt;
    const since = now - rules.rememberExpiredMs;
    const expired = expiredAt === undefined ? code && missingReason(code, now) === 'expired' : expiredAt > since;
    if (expired) return { outcome: 'expired' };
    guard.miss(attempt);
    return { outcome: 'unknown' };
  }

  return {
    admit(attempt) {
      const found = checkAccess(attempt, find);
      return 'room' in found ? { outcome: 'admitted', room: found.room } : found;
    },

    read(attempt) {
      const found = checkAccess(attempt, findToRead);
      if (!('room' in found)) return found;
      return { outcome: 'admitted', content: 'row' in found ? readContent(found) : found.content };
    },
  };
}

/** A room key cannot be guessed, so the right one is admitted even from a client with too many misses. */
function hasRightKey(found: RoomAccess | undefined, { keyHash }: AccessAttempt): boolean {
  if (found?.room.salt === undefined || !found.pinMac || !keyHash) return false;
  return timingSafeEqual(found.pinMac, keyHash);
}

const keyRequired = (salt: string): Refusal => ({ outcome: 'key-required', salt });
