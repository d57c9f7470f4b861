/** Guards against guessing codes and PINs. Synchronous, so that counting and checking are one step. */
import type { ClientId, GuardRules, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { guesserOf } from '../client-counters.ts';
import { CounterTable } from './counter-table.ts';
import { createMissGuard, type Guesser } from './miss-guard.ts';
import { createPinRules, type LifeCount, type Lock, type RoomGuard, type Tries } from './pin-attempts.ts';

type GuardedRoom = Pick<Room, 'code' | 'expiresAt'>;

type PinTrial = { outcome: 'right' } | { outcome: 'wrong'; triesLeft: number; lockedUntil: number | undefined } | Lock;

/** Limits the memory for guards, because anyone can create rooms with a PIN. */
const maxGuards = 500_000;
const maxTrusted = 1000;

export type GuessGuard = ReturnType<typeof createGuessGuard>;

/** `attemptsOf` returns the wrong PINs of a room from the database, which survive a crash. */
export function createGuessGuard(rules: GuardRules, attemptsOf: (code: RoomCode) => number, most = maxGuards) {
  const { misses, miss, missedOutUntil } = createMissGuard(rules);
  const pins = createPinRules(rules);
  const guards = new CounterTable<RoomGuard>('pin', ({ roomExpiresAt }) => roomExpiresAt);
  /** Guards whose life count has been compared with the database. */
  const compared = new WeakSet<RoomGuard>();

  /** Undefined if there are too many guards with wrong PINs, which cannot be dropped. */
  function guardOf({ code, expiresAt }: GuardedRoom, now: number): RoomGuard | undefined {
    const known = guards.get(code, now);
    if (known) return known;
    const mayDrop = (guard: RoomGuard) =>
      guard.roomExpiresAt <= now || ((guard.life?.wrong ?? 0) === 0 && !pins.hasCounters(guard, now));
    if (guards.size >= most && !guards.dropOldest(mayDrop)) return undefined;
    return guards.start(code, { wrong: 0, windowEndsAt: 0, clients: {}, trusted: [], roomExpiresAt: expiresAt });
  }

  function lifeOf(guard: RoomGuard, code: RoomCode): LifeCount {
    guard.life ??= { wrong: 0, ofNewNetworks: 0, networks: [], ofTrusted: {} };
    if (compared.has(guard)) return guard.life;
    compared.add(guard);
    guard.life.wrong = Math.max(guard.life.wrong, attemptsOf(code));
    return guard.life;
  }

  /** After the clock was set back, limits windows and locks to a full one from now. */
  function shorten(guard: RoomGuard, { code, client, now }: { code: RoomCode; client: ClientId; now: number }): void {
    const tries = guard.clients[client];
    const isAhead =
      guard.windowEndsAt > now + rules.windowMs || (tries && tries.lockedUntil > now + pins.lockMs(tries));
    if (!isAhead) return;
    guard.windowEndsAt = Math.min(guard.windowEndsAt, now + rules.windowMs);
    if (tries) tries.lockedUntil = Math.min(tries.lockedUntil, now + pins.lockMs(tries));
    if (tries) tries.forgetAt = Math.min(tries.forgetAt, now + rules.windowMs + pins.lockMs(tries));
    guards.changed(code);
  }

  function markTrusted(guard: RoomGuard, code: RoomCode, client: ClientId): void {
    if (guard.trusted.includes(client) && !guard.clients[client]) return;
    delete guard.clients[client];
    if (!guard.trusted.includes(client)) guard.trusted = [...guard.trusted.slice(1 - maxTrusted), client];
    guards.changed(code);
  }

  function wrongTry(code: RoomCode, tries: Tries, guesser: Guesser): PinTrial {
    const { now } = guesser;
    pins.lock(tries, now);
    guards.changed(code);
    miss(guesser);
    const triesLeft = Math.max(0, rules.triesBeforeLock - tries.wrong);
    return { outcome: 'wrong', triesLeft, lockedUntil: tries.lockedUntil > now ? tries.lockedUntil : undefined };
  }

  return {
    tables: [misses, guards] as const,
    miss,
    missedOutUntil,

    /** Counts the attempt as wrong before it checks the PIN, so that no concurrent attempt is missed. */
    tryPin(room: GuardedRoom, guesser: Guesser, isRight: () => boolean): PinTrial {
      const { now } = guesser;
      const client = guesserOf(guesser);
      const guard = guardOf(room, now);
      if (!guard) return { outcome: 'locked', until: now + rules.firstLockMs };
      shorten(guard, { code: room.code, client, now });
      const life = lifeOf(guard, room.code);
      const roomLocked = pins.roomLock(guard, life, now);
      const isLockedOut = roomLocked && !pins.isTrusted(guard, life, client) && !pins.hasSpareTry(life, client);
      const locked = pins.ownLock(guard, client, now) ?? (isLockedOut ? roomLocked : undefined);
      if (locked) return locked;
      const known = guard.clients[client] !== undefined;
      const tries = pins.count(guard, client, now);
      if (isRight()) {
        guard.wrong -= 1;
        if (!known) delete guard.clients[client];
        markTrusted(guard, room.code, client);
        return { outcome: 'right' };
      }
      const kind = pins.isTrusted(guard, life, client) ? 'trusted' : roomLocked ? 'spare' : 'stranger';
      pins.countForLife(life, client, kind);
      return wrongTry(room.code, tries, guesser);
    },

    /**
     * The right key of an encrypted room is always admitted: nobody can guess it, so wrong keys must not keep out those who
     * have it. Wrong ones only lock out the client that sends them.
     */
    tryKey(room: GuardedRoom, guesser: Guesser, isRight: () => boolean): PinTrial {
      const { now } = guesser;
      const client = guesserOf(guesser);
      if (isRight()) {
        const known = guards.get(room.code, now);
        if (known?.clients[client]) {
          delete known.clients[client];
          guards.changed(room.code);
        }
        return { outcome: 'right' };
      }
      const guard = guardOf(room, now);
      if (!guard) return { outcome: 'locked', until: now + rules.firstLockMs };
      const counter = pins.keyCounterOf(guard, client, now);
      shorten(guard, { code: room.code, client: counter, now });
      const locked = pins.ownLock(guard, counter, now);
      if (locked) return locked;
      return wrongTry(room.code, pins.count(guard, counter, now), guesser);
    },

    /** For the creator of the room, who knows its PIN. */
    trust(room: GuardedRoom, client: ClientId, now: number): void {
      const guard = guardOf(room, now);
      if (guard) markTrusted(guard, room.code, client);
    },

    trusted(code: RoomCode, now: number): ClientId[] {
      return [...(guards.get(code, now)?.trusted ?? [])];
    },

    /** A guard ends with its room. */
    moveExpiry({ code, expiresAt }: GuardedRoom, now: number): void {
      const guard = guards.get(code, now);
      if (!guard || guard.roomExpiresAt === expiresAt) return;
      guard.roomExpiresAt = expiresAt;
      guards.changed(code);
    },

    forgetRoom(code: RoomCode): void {
      guards.forget(code);
    },
  };
}
