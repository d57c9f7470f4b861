/** Requests per client and window. Synchronous, so that a burst is granted exactly the limit. */
import type { Allowance, ClientId, GuardRules, Quota, RateCounter } from '../../core/ports.ts';
import { CounterBudget } from '../client-counters.ts';
import { CounterTable } from './counter-table.ts';

interface Spending {
  used: number;
  resetAt: number;
}

export function createRateCounter(rules: GuardRules): RateCounter & { table: CounterTable<Spending> } {
  const table = new CounterTable<Spending>('rate', ({ resetAt }) => resetAt);
  const budget = new CounterBudget(rules);

  /** After the clock was set back, no client waits longer than a full window. */
  function current(key: string, { windowMs }: Quota, now: number): Spending | undefined {
    const spending = table.get(key, now);
    if (!spending || spending.resetAt <= now + windowMs) return spending;
    spending.resetAt = now + windowMs;
    table.changed(key);
    return spending;
  }

  function start(key: string, client: ClientId, { windowMs }: Quota, now: number): Spending {
    budget.noteStart(key, client);
    return table.start(key, { used: 0, resetAt: now + windowMs });
  }

  function take(spending: Spending, key: string, quota: Quota): Allowance {
    const granted = spending.used < quota.limit;
    if (granted) {
      spending.used += 1;
      table.changed(key);
    }
    return allowance(spending, quota, granted);
  }

  return {
    table,
    take(client: ClientId, quota: Quota, now: number) {
      const own = current(client, quota, now);
      if (own) return take(own, client, quota);
      const key = budget.keyFor(client, now);
      return take(current(key, quota, now) ?? start(key, client, quota, now), key, quota);
    },
    peek(client: ClientId, quota: Quota, now: number) {
      const own = current(client, quota, now);
      const spending = own ?? (budget.isShared ? current(budget.keyFor(client, now), quota, now) : undefined);
      return allowance(spending ?? { used: 0, resetAt: now + quota.windowMs }, quota, true);
    },
  };
}

function allowance({ used, resetAt }: Spending, quota: Quota, granted: boolean): Allowance {
  return { granted, remaining: Math.max(0, quota.limit - used), resetAt };
}
