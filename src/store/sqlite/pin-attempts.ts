/** The PIN attempts of one room: counts them, and derives the locks from the counts. */
import type { ClientId, GuardRules } from '../../core/ports.ts';
import { networkOf } from '../client-counters.ts';

export interface Tries {
  wrong: number;
  lockedUntil: number;
  forgetAt: number;
}

/** The PIN attempts of a protected room. */
export interface RoomGuard {
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
export interface LifeCount {
  wrong: number;
  /** Attempts from networks without an earlier wrong PIN, while other unknown clients were locked out. */
  ofNewNetworks: number;
  /** The networks of unknown clients with a wrong PIN, at most one per wrong PIN. */
  networks: string[];
  /** Wrong PINs of trusted clients. A client with too many is no longer trusted. */
  ofTrusted: Record<ClientId, number>;
}

export type Lock = { outcome: 'locked'; until: number; isForLife?: true };

export function createPinRules(rules: GuardRules) {
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

  return { lockMs, isTrusted, ownLock, roomLock, hasSpareTry, hasCounters, keyCounterOf, count, countForLife, lock };
}
