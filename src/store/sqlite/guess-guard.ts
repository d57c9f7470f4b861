/** Guards against guessing codes and PINs. Synchronous, so that counting and checking are one step. */
import type { AccessAttempt, ClientId, GuardRules, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { CounterBudget } from '../counters/budget.ts';
import { guesserOf, networkOf } from '../counters/network.ts';
import { CounterTable } from './counter-table.ts';

interface Misses {
  count: number;
  /** How many of them came from pages of other sites. */
  crossSite?: number;
  resetAt: number;
}

interface Tries {
  wrong: number;
  lockedUntil: number;
  forgetAt: number;
}

/** The PIN attempts of a protected room. */
interface RoomGuard {
  wrong: number;
  windowEndsAt: number;
  /** Few, because the room's own limit locks out unknown clients before this grows. */
  clients: Record<ClientId, Tries>;
  /** Clients that know the PIN. The room's limit does not lock them out. */
  trusted: ClientId[];
  roomExpiresAt: number;
  /** Set after the first attempt. */
  life?: LifeCount;
}

/** Wrong PINs over the lifetime of a room. */
interface LifeCount {
  wrong: number;
  /** Those from networks without an earlier wrong PIN, while other unknown clients were locked out. */
  ofNewNetworks: number;
  /** The networks of unknown clients with a wrong PIN, at most one per wrong PIN. */
  networks: string[];
  /** Wrong PINs of trusted clients. A client with too many is no longer trusted. */
  ofTrusted: Record<ClientId, number>;
}

type Guesser = Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'>;
type GuardedRoom = Pick<Room, 'code' | 'expiresAt'>;

export type PinTrial =
  | { outcome: 'right' }
  | { outcome: 'wrong'; triesLeft: number; lockedUntil: number | undefined }
  | Lock;

type Lock = { outcome: 'locked'; until: number; isForLife?: true };

/** Limits the memory for guards, because anyone can create rooms with a PIN. */
const maxGuards = 500_000;
const maxTrusted = 1000;

export type GuessGuard = ReturnType<typeof createGuessGuard>;

/** `attemptsOf` returns the wrong PINs of a room from the database, which survive a crash. */
export function createGuessGuard(rules: GuardRules, attemptsOf: (code: RoomCode) => number, most = maxGuards) {
  const misses = new CounterTable<Misses>('miss', ({ resetAt }) => resetAt);
  const missBudget = new CounterBudget(rules);
  const guards = new CounterTable<RoomGuard>('pin', ({ roomExpiresAt }) => roomExpiresAt);
  /** Guards whose life count has been compared with the database. */
  const compared = new WeakSet<RoomGuard>();
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);

  /** Undefined if there are too many guards with wrong PINs, which cannot be dropped. */
  function guardOf({ code, expiresAt }: GuardedRoom, now: number): RoomGuard | undefined {
    const known = guards.get(code, now);
    if (known) return known;
    const mayDrop = ({ life, roomExpiresAt }: RoomGuard) => (life?.wrong ?? 0) === 0 || roomExpiresAt <= now;
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

  const lockMs = ({ wrong }: Tries) =>
    Math.min(rules.firstLockMs * 2 ** (wrong - rules.triesBeforeLock), rules.longestLockMs);

  /** After the clock was set back, limits windows and locks to a full one from now. */
  function shorten(guard: RoomGuard, { code, client, now }: { code: RoomCode; client: ClientId; now: number }): void {
    const tries = guard.clients[client];
    const isAhead = guard.windowEndsAt > now + rules.windowMs || (tries && tries.lockedUntil > now + lockMs(tries));
    if (!isAhead) return;
    guard.windowEndsAt = Math.min(guard.windowEndsAt, now + rules.windowMs);
    if (tries) tries.lockedUntil = Math.min(tries.lockedUntil, now + lockMs(tries));
    if (tries) tries.forgetAt = Math.min(tries.forgetAt, now + rules.windowMs + lockMs(tries));
    guards.changed(code);
  }

  const isTrusted = (guard: RoomGuard, { ofTrusted }: LifeCount, client: ClientId): boolean =>
    guard.trusted.includes(client) && (ofTrusted[client] ?? 0) < rules.wrongPinsPerLife;

  function ownLock(guard: RoomGuard, client: ClientId, now: number): Lock | undefined {
    const until = guard.clients[client]?.lockedUntil ?? 0;
    return until > now ? { outcome: 'locked', until } : undefined;
  }

  /** The lock for all clients that are not trusted. */
  function roomLock(guard: RoomGuard, life: LifeCount, now: number): Lock | undefined {
    const forAll = rules.wrongPinsPerLife - rules.wrongPinsOfNewNetworks;
    if (life.wrong - life.ofNewNetworks >= forAll) {
      return { outcome: 'locked', until: guard.roomExpiresAt, isForLife: true };
    }
    const isLocked = guard.windowEndsAt > now && guard.wrong >= rules.wrongPinsPerRoom;
    return isLocked ? { outcome: 'locked', until: guard.windowEndsAt } : undefined;
  }

  /** Whether an unknown client has a try in spite of the lock, because its network has not sent a wrong PIN. */
  const hasSpareTry = (life: LifeCount, client: ClientId): boolean =>
    life.wrong < rules.wrongPinsPerLife &&
    life.ofNewNetworks < rules.wrongPinsOfNewNetworks &&
    !life.networks.includes(networkOf(client));

  function count(guard: RoomGuard, client: ClientId, now: number): Tries {
    if (guard.windowEndsAt <= now) Object.assign(guard, { wrong: 0, windowEndsAt: now + rules.windowMs });
    guard.wrong += 1;
    for (const [id, { forgetAt }] of Object.entries(guard.clients)) if (forgetAt <= now) delete guard.clients[id];
    const tries = guard.clients[client] ?? { wrong: 0, lockedUntil: 0, forgetAt: 0 };
    tries.wrong += 1;
    guard.clients[client] = tries;
    return tries;
  }

  /** Counts a wrong PIN over the lifetime of the room. */
  function countForLife(life: LifeCount, client: ClientId, kind: 'trusted' | 'stranger' | 'spare'): void {
    life.wrong += 1;
    if (kind === 'trusted') {
      life.ofTrusted[client] = (life.ofTrusted[client] ?? 0) + 1;
      return;
    }
    if (kind === 'spare') life.ofNewNetworks += 1;
    const network = networkOf(client);
    if (!life.networks.includes(network)) life.networks.push(network);
  }

  /** The fifth wrong PIN locks for the first time. Each further one locks for twice as long. */
  function lock(tries: Tries, now: number): void {
    if (tries.wrong >= rules.triesBeforeLock) tries.lockedUntil = now + lockMs(tries);
    tries.forgetAt = Math.max(now, tries.lockedUntil) + rules.windowMs;
  }

  function markTrusted(guard: RoomGuard, code: RoomCode, client: ClientId): void {
    if (guard.trusted.includes(client) && !guard.clients[client]) return;
    delete guard.clients[client];
    if (!guard.trusted.includes(client)) guard.trusted = [...guard.trusted.slice(1 - maxTrusted), client];
    guards.changed(code);
  }

  function missesAt(key: string, now: number): Misses | undefined {
    const missed = misses.get(key, now);
    if (!missed || missed.resetAt <= now + rules.windowMs) return missed;
    missed.resetAt = now + rules.windowMs;
    misses.changed(key);
    return missed;
  }

  function miss({ client, isCrossSite, now }: Guesser): void {
    const key = missesAt(client, now) ? client : missBudget.keyFor(client, now);
    const missed = missesAt(key, now) ?? startMisses(key, client, now);
    missed.count += 1;
    if (isCrossSite) missed.crossSite = (missed.crossSite ?? 0) + 1;
    misses.changed(key);
  }

  function startMisses(key: string, client: ClientId, now: number): Misses {
    missBudget.noteStart(key, client);
    return misses.start(key, { count: 0, resetAt: now + rules.windowMs });
  }

  return {
    tables: [misses, guards] as const,
    miss,

    /** When a client with too many misses may access rooms again; undefined if it may now. */
    missedOutUntil({ client, isCrossSite, now }: Guesser): number | undefined {
      if (rules.missesPerClient === 0) return undefined;
      const own = missesAt(client, now);
      const missed = own ?? (missBudget.isShared ? missesAt(missBudget.keyFor(client, now), now) : undefined);
      if (!missed) return undefined;
      const { count, crossSite = 0, resetAt } = missed;
      const tooMany = count >= rules.missesPerClient || (isCrossSite && crossSite >= crossSiteMisses);
      return tooMany ? resetAt : undefined;
    },

    /** Counts the attempt as wrong before it checks the PIN, so that no concurrent attempt is missed. */
    tryPin(room: GuardedRoom, guesser: Guesser, isRight: () => boolean): PinTrial {
      const { now } = guesser;
      const client = guesserOf(guesser);
      const guard = guardOf(room, now);
      if (!guard) return { outcome: 'locked', until: now + rules.firstLockMs };
      shorten(guard, { code: room.code, client, now });
      const life = lifeOf(guard, room.code);
      const roomLocked = roomLock(guard, life, now);
      const isLockedOut = roomLocked && !isTrusted(guard, life, client) && !hasSpareTry(life, client);
      const locked = ownLock(guard, client, now) ?? (isLockedOut ? roomLocked : undefined);
      if (locked) return locked;
      const known = guard.clients[client] !== undefined;
      const tries = count(guard, client, now);
      if (isRight()) {
        guard.wrong -= 1;
        if (!known) delete guard.clients[client];
        markTrusted(guard, room.code, client);
        return { outcome: 'right' };
      }
      countForLife(life, client, isTrusted(guard, life, client) ? 'trusted' : roomLocked ? 'spare' : 'stranger');
      lock(tries, now);
      guards.changed(room.code);
      miss(guesser);
      const triesLeft = Math.max(0, rules.triesBeforeLock - tries.wrong);
      return { outcome: 'wrong', triesLeft, lockedUntil: tries.lockedUntil > now ? tries.lockedUntil : undefined };
    },

    /** For the creator of the room, who knows its PIN. */
    trust(room: GuardedRoom, client: ClientId, now: number): void {
      const guard = guardOf(room, now);
      if (guard) markTrusted(guard, room.code, client);
    },

    trusted(code: RoomCode, now: number): ClientId[] {
      return [...(guards.get(code, now)?.trusted ?? [])];
    },

    forgetRoom(code: RoomCode): void {
      guards.forget(code);
    },
  };
}
