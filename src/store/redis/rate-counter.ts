/** Requests per client and window, counted in Redis and therefore exact across all nodes. */
import type { GuardRules, RateCounter } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { createCounters } from './counters.ts';
import type { Keys } from './keys.ts';
import { spendRequest } from './scripts.ts';

export function createRateCounter(redis: Redis, keys: Keys, rules: GuardRules): RateCounter {
  const countFor = createCounters(redis, spendRequest, keys.spending, rules);
  const spend =
    (take: 0 | 1): RateCounter['take'] =>
    async (client, { limit, windowMs }, now) => {
      const reply = await countFor(client, now, [take, now, limit, windowMs]);
      const [granted, used, resetAt] = reply as unknown as [number, number, string];
      return {
        granted: take === 0 || granted === 1,
        remaining: Math.max(0, limit - used),
        resetAt: Number(resetAt),
      };
    };
  return { take: spend(1), peek: spend(0) };
}
