/** The guards against guessing codes and PINs. Synchronous inside: counting and checking are one step. */
import type { ClientId, GuardRules, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { Ledger } from './ledger.ts';

interface Misses {
  count: number;
  resetAt: number;
}

interface Tries {
  wrong: number;
  lockedUntil: number;
  forgetAt: number;
}

/** What a protected room remembers of those who tried its PIN. */
interface RoomGuard {
  wrong: number;
  windowEndsAt: number;
  /** Few: the room's own limit shuts strangers out long before this grows. */
  clients: Record<ClientId, Tries>;
  /** Clients that know the PIN; the room's limit does not shut them out. */
  trusted: ClientId[];
  roomExpiresAt: number;
}

export type PinTrial =
  | { outcome: 'right' }
  | { outcome: 'wrong'; triesLeft: number; lockedUntil: number | undefined }
  | { outcome: 'locked'; until: number };

/** A stranger with many addresses can make no more counters than these. */
const mostClients = 500_000;
const mostRooms = 500_000;
const mostTrusted = 1000;

export type GuessGuard = ReturnType<typeof createGuessGuard>;

export function createGuessGuard(rules: GuardRules) {
  const misses = new Ledger<Misses>('miss', mostClients, ({ resetAt }) => resetAt);
  const guards = new Ledger<RoomGuard>('pin', mostRooms, ({ roomExpiresAt }) => roomExpiresAt);

  function guardOf({ code, expiresAt }: Pick<Room, 'code' | 'expiresAt'>, now: number): RoomGuard {
    const fresh = { wrong: 0, windowEndsAt: 0, clients: {}, trusted: [], roomExpiresAt: expiresAt };
    return guards.get(code, now) ?? guards.start(code, fresh);
  }

  const lockMs = ({ wrong }: Tries) =>
    Math.min(rules.firstLockMs * 2 ** (wrong - rules.triesBeforeLock), rules.longestLockMs);

  /** After a clock that was ahead is set back, no window and no lock lasts for longer than a whole one from now. */
  function shorten(guard: RoomGuard, { code, client, now }: { code: RoomCode; client: ClientId; now: number }): void {
    const tries = guard.clients[client];
    const isAhead = guard.windowEndsAt > now + rules.windowMs || (tries && tries.lockedUntil > now + lockMs(tries));
    if (!isAhead) return;
    guard.windowEndsAt = Math.min(guard.windowEndsAt, now + rules.windowMs);
    if (tries) tries.lockedUntil = Math.min(tries.lockedUntil, now + lockMs(tries));
    if (tries) tries.forgetAt = Math.min(tries.forgetAt, now + rules.windowMs + lockMs(tries));
    guards.changed(code);
  }

  function lockedUntil(guard: RoomGuard, client: ClientId, now: number): number | undefined {
    const own = guard.clients[client]?.lockedUntil ?? 0;
    if (own > now) return own;
    const isShut = guard.windowEndsAt > now && guard.wrong >= rules.wrongPinsPerRoom;
    return isShut && !guard.trusted.includes(client) ? guard.windowEndsAt : undefined;
  }

  function count(guard: RoomGuard, client: ClientId, now: number): Tries {
    if (guard.windowEndsAt <= now) Object.assign(guard, { wrong: 0, windowEndsAt: now + rules.windowMs });
    guard.wrong += 1;
    for (const [id, { forgetAt }] of Object.entries(guard.clients)) if (forgetAt <= now) delete guard.clients[id];
    const tries = guard.clients[client] ?? { wrong: 0, lockedUntil: 0, forgetAt: 0 };
    tries.wrong += 1;
    guard.clients[client] = tries;
    return tries;
  }

  /** The fifth wrong PIN locks for the first time; each further one locks for twice as long. */
  function lock(tries: Tries, now: number): void {
    if (tries.wrong >= rules.triesBeforeLock) tries.lockedUntil = now + lockMs(tries);
    tries.forgetAt = Math.max(now, tries.lockedUntil) + rules.windowMs;
  }

  function welcome(guard: RoomGuard, code: RoomCode, client: ClientId): void {
    if (guard.trusted.includes(client) && !guard.clients[client]) return;
    delete guard.clients[client];
    if (!guard.trusted.includes(client)) guard.trusted = [...guard.trusted.slice(1 - mostTrusted), client];
    guards.changed(code);
  }

  function missesOf(client: ClientId, now: number): Misses | undefined {
    const missed = misses.get(client, now);
    if (!missed || missed.resetAt <= now + rules.windowMs) return missed;
    missed.resetAt = now + rules.windowMs;
    misses.changed(client);
    return missed;
  }

  function miss(client: ClientId, now: number): void {
    const missed = missesOf(client, now) ?? misses.start(client, { count: 0, resetAt: now + rules.windowMs });
    missed.count += 1;
    misses.changed(client);
  }

  return {
    ledgers: [misses, guards] as const,
    miss,

    /** When a client that missed too often may look for rooms again; undefined if it may now. */
    missedOutUntil(client: ClientId, now: number): number | undefined {
      const missed = missesOf(client, now);
      const tooMany = missed && rules.missesPerClient > 0 && missed.count >= rules.missesPerClient;
      return tooMany ? missed.resetAt : undefined;
    },

    /** Counts the try as wrong, then looks: there is no moment in which one more could slip past. */
    tryPin(room: Pick<Room, 'code' | 'expiresAt'>, client: ClientId, isRight: () => boolean, now: number): PinTrial {
      const guard = guardOf(room, now);
      shorten(guard, { code: room.code, client, now });
      const until = lockedUntil(guard, client, now);
      if (until !== undefined) return { outcome: 'locked', until };
      const known = guard.clients[client] !== undefined;
      const tries = count(guard, client, now);
      if (isRight()) {
        guard.wrong -= 1;
        if (!known) delete guard.clients[client];
        welcome(guard, room.code, client);
        return { outcome: 'right' };
      }
      lock(tries, now);
      guards.changed(room.code);
      miss(client, now);
      const triesLeft = Math.max(0, rules.triesBeforeLock - tries.wrong);
      return { outcome: 'wrong', triesLeft, lockedUntil: tries.lockedUntil > now ? tries.lockedUntil : undefined };
    },

    /** Whoever made the room knows its PIN. */
    trust(room: Pick<Room, 'code' | 'expiresAt'>, client: ClientId, now: number): void {
      welcome(guardOf(room, now), room.code, client);
    },

    trusted(code: RoomCode, now: number): ClientId[] {
      return [...(guards.get(code, now)?.trusted ?? [])];
    },

    forgetRoom(code: RoomCode): void {
      guards.forget(code);
    },
  };
}
