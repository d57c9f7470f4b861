/** Access to rooms, and the guards against guessing codes, PINs and keys. */
import type { ClientId, MaybePromise, Room } from '../../core/ports/basics.ts';
import type { AccessAttempt, Device, GuardRules, Refusal, RoomStore } from '../../core/ports/rooms.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { type Guesser, guesserOf, networkOf } from '../client-counters.ts';
import type { RoomAccess, RoomReader } from './cache.ts';
import { CounterTable, WindowCounters } from './clients.ts';
import { isEqual } from './database.ts';

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

    trusted: (code: RoomCode, now: number): ClientId[] => [...(guards.get(code, now)?.trusted ?? [])],

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

type Tries = { wrong: number; lockedUntil: number; forgetAt: number };

/** The PIN attempts of a protected room. */
interface RoomGuard {
  wrong: number;
  windowEndsAt: number;
  /** Few, because the room's own limit locks out unknown clients before this grows. For keys, see `keyCounterOf`. */
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
  /** Attempts from networks without an earlier wrong PIN, while other unknown clients were locked out. */
  ofNewNetworks: number;
  /** The networks of unknown clients with a wrong PIN, at most one per wrong PIN. */
  networks: string[];
  /** Wrong PINs of trusted clients. A client with too many is no longer trusted. */
  ofTrusted: Record<ClientId, number>;
}

type Lock = { outcome: 'locked'; until: number; isForLife?: true };

/** The PIN attempts of one room: counts them, and derives the locks from the counts. */
function createPinRules(rules: GuardRules) {
  const lockMs = ({ wrong }: Tries) =>
    Math.min(rules.firstLockMs * 2 ** (wrong - rules.triesBeforeLock), rules.longestLockMs);

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

  function forgetOld({ clients }: RoomGuard, now: number): void {
    for (const [id, { forgetAt }] of Object.entries(clients)) if (forgetAt <= now) delete clients[id];
  }

  /** Whether a client has a count of wrong PINs or keys that still matters. */
  const hasCounters = ({ clients }: RoomGuard, now: number): boolean =>
    Object.values(clients).some(({ forgetAt }) => forgetAt > now);

  /** The counter for wrong keys of a client. When a room has too many of them, further clients share one. */
  function keyCounterOf(guard: RoomGuard, client: ClientId, now: number): ClientId {
    if (guard.clients[client]) return client;
    forgetOld(guard, now);
    return Object.keys(guard.clients).length < rules.keyCountersPerRoom ? client : '*';
  }

  function count(guard: RoomGuard, client: ClientId, now: number): Tries {
    if (guard.windowEndsAt <= now) Object.assign(guard, { wrong: 0, windowEndsAt: now + rules.windowMs });
    guard.wrong += 1;
    forgetOld(guard, now);
    const tries = guard.clients[client] ?? { wrong: 0, lockedUntil: 0, forgetAt: 0 };
    tries.wrong += 1;
    guard.clients[client] = tries;
    return tries;
  }

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

  return { lockMs, isTrusted, ownLock, roomLock, hasSpareTry, hasCounters, keyCounterOf, count, countForLife, lock };
}

interface Misses {
  count: number;
  /** How many of them came from pages of other sites. */
  crossSite?: number;
  resetAt: number;
}

/** Counts unknown codes and wrong PINs per client, and locks out clients with too many. */
function createMissGuard(rules: GuardRules) {
  const counters = new WindowCounters<Misses>('miss', rules);
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);

  function miss({ client, isCrossSite, now }: Guesser): void {
    const [missed, key] = counters.findOrStart(client, rules.windowMs, now, { count: 0 });
    missed.count += 1;
    if (isCrossSite) missed.crossSite = (missed.crossSite ?? 0) + 1;
    counters.table.changed(key);
  }

  return {
    misses: counters.table,
    miss,

    /** When a client with too many misses may access rooms again; undefined if it may now. */
    missedOutUntil({ client, isCrossSite, now }: Guesser): number | undefined {
      if (rules.missesPerClient === 0) return undefined;
      const missed = counters.find(client, rules.windowMs, now);
      if (!missed) return undefined;
      const { count, crossSite = 0, resetAt } = missed;
      const tooMany = count >= rules.missesPerClient || (isCrossSite && crossSite >= crossSiteMisses);
      return tooMany ? resetAt : undefined;
    },
  };
}

export interface AccessDeps {
  rooms: RoomReader;
  guard: GuessGuard;
  devices: { seen(code: RoomCode, device: Device, now: number): void };
}

/** Checks access to rooms. Synchronous unless an expired room has to be ended, because every request needs it. */
export function createAdmission(
  { rooms, guard, devices }: AccessDeps,
  rules: GuardRules,
): Pick<RoomStore, 'admit' | 'read'> {
  const { find, findToRead, readText, missingReason, endForGood } = rooms;

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
      const hasProof = isKey ? attempt.keyHash : (attempt.pin ?? attempt.pinMac);
      if (!hasProof)
        return room.salt === undefined ? { outcome: 'pin-required' } : { outcome: 'key-required', salt: room.salt };
      const trial = isKey
        ? guard.tryKey(room, attempt, () => hasRightKey(found, attempt))
        : guard.tryPin(room, attempt, () => hasRightPin(found, roomMac, attempt));
      if (trial.outcome === 'locked') return { ...trial, outcome: 'pin-locked', ...isKey };
      if (trial.outcome === 'wrong') return { ...trial, outcome: 'pin-incorrect', ...isKey };
    }
    if (deviceId) devices.seen(room.code, { id: deviceId, name: undefined }, now);
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
      const { content, sealed } = 'row' in found ? readText(found) : found;
      return sealed ? { outcome: 'admitted', content, sealed } : { outcome: 'admitted', content };
    },
  };
}

/** A room key cannot be guessed, so the right one is admitted even from a client with too many misses. */
function hasRightKey(found: RoomAccess | undefined, { keyHash }: AccessAttempt): boolean {
  if (found?.room.salt === undefined || !found.pinMac || !keyHash) return false;
  return isEqual(found.pinMac, keyHash);
}

/**
 * A cached room remembers its PIN when a client has given it. From then on every PIN, right or wrong, is compared with it
 * and not hashed, so the time tells nothing about the PIN.
 */
function hasRightPin(found: RoomAccess, roomMac: Uint8Array, attempt: AccessAttempt): boolean {
  const { pin } = attempt;
  if (found.knownPin !== undefined && pin !== undefined) return isSamePin(found.knownPin, pin);
  const isRight = attempt.pinMac !== undefined && isEqual(roomMac, attempt.pinMac);
  if (isRight) found.knownPin = pin;
  return isRight;
}

/** In constant time. PINs have the same length. */
function isSamePin(known: string, given: string): boolean {
  let difference = known.length ^ given.length;
  for (let i = 0; i < known.length; i++) difference |= known.charCodeAt(i) ^ given.charCodeAt(i);
  return difference === 0;
}
