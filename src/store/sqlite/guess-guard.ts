/** The guards against guessing codes and PINs. Synchronous inside: counting and checking are one step. */
import type { AccessAttempt, ClientId, GuardRules, Room } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { CounterBudget } from '../counters/budget.ts';
import { guesserOf, networkOf } from '../counters/network.ts';
import { CounterTable } from './counter-table.ts';

interface Misses {
  count: number;
  /** Those of the count that pages of other sites made. */
  crossSite?: number;
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
  /** Not there before the first try. */
  life?: LifeCount;
}

/** Wrong PINs over the whole life of a room. */
interface LifeCount {
  wrong: number;
  /** Those that came from a network which had not tried before, while other strangers were locked out. */
  ofNewNetworks: number;
  /** The networks of all strangers that were wrong: as many as there are wrong PINs, at most. */
  networks: string[];
  /** Wrong PINs of trusted clients. One that has too many of them is trusted no longer. */
  ofTrusted: Record<ClientId, number>;
}

type Visitor = Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'>;
type GuardedRoom = Pick<Room, 'code' | 'expiresAt'>;

export type PinTrial =
  | { outcome: 'right' }
  | { outcome: 'wrong'; triesLeft: number; lockedUntil: number | undefined }
  | Lock;

type Lock = { outcome: 'locked'; until: number; isForLife?: true };

/** Strangers can make as many rooms with a PIN as they like, but no more guards than these. */
const mostGuards = 500_000;
const mostTrusted = 1000;

export type GuessGuard = ReturnType<typeof createGuessGuard>;

/** `attemptsOf` a room are its wrong PINs as the database has them, which a crash does not forget. */
export function createGuessGuard(rules: GuardRules, attemptsOf: (code: RoomCode) => number, most = mostGuards) {
  const misses = new CounterTable<Misses>('miss', ({ resetAt }) => resetAt);
  const missBudget = new CounterBudget(rules);
  const guards = new CounterTable<RoomGuard>('pin', ({ roomExpiresAt }) => roomExpiresAt);
  /** Guards whose life count is not behind the database. */
  const compared = new WeakSet<RoomGuard>();
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);

  /** Undefined when there are too many guards that cannot be dropped, because they hold wrong PINs. */
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

  const isTrusted = (guard: RoomGuard, { ofTrusted }: LifeCount, client: ClientId): boolean =>
    guard.trusted.includes(client) && (ofTrusted[client] ?? 0) < rules.wrongPinsPerLife;

  function ownLock(guard: RoomGuard, client: ClientId, now: number): Lock | undefined {
    const until = guard.clients[client]?.lockedUntil ?? 0;
    return until > now ? { outcome: 'locked', until } : undefined;
  }

  /** The lock for all strangers. */
  function roomLock(guard: RoomGuard, life: LifeCount, now: number): Lock | undefined {
    const forAll = rules.wrongPinsPerLife - rules.wrongPinsOfNewNetworks;
    if (life.wrong - life.ofNewNetworks >= forAll) {
      return { outcome: 'locked', until: guard.roomExpiresAt, isForLife: true };
    }
    const isShut = guard.windowEndsAt > now && guard.wrong >= rules.wrongPinsPerRoom;
    return isShut ? { outcome: 'locked', until: guard.windowEndsAt } : undefined;
  }

  /** Whether a stranger has a try in spite of the lock: most newcomers are not in the networks of those who guess. */
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

  /** Over the life of the room, a wrong PIN of a trusted client or of a stranger. */
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

  function missesAt(key: string, now: number): Misses | undefined {
    const missed = misses.get(key, now);
    if (!missed || missed.resetAt <= now + rules.windowMs) return missed;
    missed.resetAt = now + rules.windowMs;
    misses.changed(key);
    return missed;
  }

  function miss({ client, isCrossSite, now }: Visitor): void {
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
    ledgers: [misses, guards] as const,
    miss,

    /** When a client that missed too often may look for rooms again; undefined if it may now. */
    missedOutUntil({ client, isCrossSite, now }: Visitor): number | undefined {
      if (rules.missesPerClient === 0) return undefined;
      const own = missesAt(client, now);
      const missed = own ?? (missBudget.isShared ? missesAt(missBudget.keyFor(client, now), now) : undefined);
      if (!missed) return undefined;
      const { count, crossSite = 0, resetAt } = missed;
      const tooMany = count >= rules.missesPerClient || (isCrossSite && crossSite >= crossSiteMisses);
      return tooMany ? resetAt : undefined;
    },

    /** Counts the try as wrong, then looks: there is no moment in which one more could slip past. */
    tryPin(room: GuardedRoom, visitor: Visitor, isRight: () => boolean): PinTrial {
      const { now } = visitor;
      const client = guesserOf(visitor);
      const guard = guardOf(room, now);
      if (!guard) return { outcome: 'locked', until: now + rules.firstLockMs };
      shorten(guard, { code: room.code, client, now });
      const life = lifeOf(guard, room.code);
      const shut = roomLock(guard, life, now);
      const isShutOut = shut && !isTrusted(guard, life, client) && !hasSpareTry(life, client);
      const locked = ownLock(guard, client, now) ?? (isShutOut ? shut : undefined);
      if (locked) return locked;
      const known = guard.clients[client] !== undefined;
      const tries = count(guard, client, now);
      if (isRight()) {
        guard.wrong -= 1;
        if (!known) delete guard.clients[client];
        welcome(guard, room.code, client);
        return { outcome: 'right' };
      }
      countForLife(life, client, isTrusted(guard, life, client) ? 'trusted' : shut ? 'spare' : 'stranger');
      lock(tries, now);
      guards.changed(room.code);
      miss(visitor);
      const triesLeft = Math.max(0, rules.triesBeforeLock - tries.wrong);
      return { outcome: 'wrong', triesLeft, lockedUntil: tries.lockedUntil > now ? tries.lockedUntil : undefined };
    },

    /** Whoever made the room knows its PIN. */
    trust(room: GuardedRoom, client: ClientId, now: number): void {
      const guard = guardOf(room, now);
      if (guard) welcome(guard, room.code, client);
    },

    trusted(code: RoomCode, now: number): ClientId[] {
      return [...(guards.get(code, now)?.trusted ?? [])];
    },

    forgetRoom(code: RoomCode): void {
      guards.forget(code);
    },
  };
}
