/** Counts unknown codes and wrong PINs per client, and locks out clients with too many. */
import type { AccessAttempt, ClientId, GuardRules } from '../../core/ports.ts';
import { CounterBudget } from '../client-counters.ts';
import { CounterTable } from './counter-table.ts';

export type Guesser = Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'>;

interface Misses {
  count: number;
  /** How many of them came from pages of other sites. */
  crossSite?: number;
  resetAt: number;
}

export function createMissGuard(rules: GuardRules) {
  const misses = new CounterTable<Misses>('miss', ({ resetAt }) => resetAt);
  const missBudget = new CounterBudget(rules);
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);

  function missesAt(key: string, now: number): Misses | undefined {
    const missed = misses.get(key, now);
    if (!missed || missed.resetAt <= now + rules.windowMs) return missed;
    missed.resetAt = now + rules.windowMs;
    misses.changed(key);
    return missed;
  }

  function startMisses(key: string, client: ClientId, now: number): Misses {
    missBudget.noteStart(key, client);
    return misses.start(key, { count: 0, resetAt: now + rules.windowMs });
  }

  function miss({ client, isCrossSite, now }: Guesser): void {
    const key = missesAt(client, now) ? client : missBudget.keyFor(client, now);
    const missed = missesAt(key, now) ?? startMisses(key, client, now);
    missed.count += 1;
    if (isCrossSite) missed.crossSite = (missed.crossSite ?? 0) + 1;
    misses.changed(key);
  }

  return {
    misses,
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
  };
}
