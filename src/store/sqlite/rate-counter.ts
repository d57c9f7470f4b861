/** Requests per client and window. Synchronous inside, so that a burst is granted exactly the limit. */
import type { Allowance, ClientId, Quota, RateCounter } from '../../core/ports.ts';
import { Ledger } from './ledger.ts';

interface Spending {
  used: number;
  resetAt: number;
}

/** About 100 bytes each; a stranger with many addresses can make no more of them than this. */
const mostClients = 500_000;

export function createRateCounter(): RateCounter & { ledger: Ledger<Spending> } {
  const ledger = new Ledger<Spending>('rate', mostClients, ({ resetAt }) => resetAt);

  /** After a clock that was ahead is set back, nobody waits for longer than a whole window. */
  function current(client: ClientId, { windowMs }: Quota, now: number): Spending | undefined {
    const spending = ledger.get(client, now);
    if (!spending || spending.resetAt <= now + windowMs) return spending;
    spending.resetAt = now + windowMs;
    ledger.changed(client);
    return spending;
  }

  return {
    ledger,
    take(client: ClientId, quota: Quota, now: number) {
      const spending = current(client, quota, now) ?? ledger.start(client, { used: 0, resetAt: now + quota.windowMs });
      const granted = spending.used < quota.limit;
      if (granted) {
        spending.used += 1;
        ledger.changed(client);
      }
      return allowance(spending, quota, granted);
    },
    peek(client: ClientId, quota: Quota, now: number) {
      const spending = current(client, quota, now) ?? { used: 0, resetAt: now + quota.windowMs };
      return allowance(spending, quota, true);
    },
  };
}

function allowance({ used, resetAt }: Spending, quota: Quota, granted: boolean): Allowance {
  return { granted, remaining: Math.max(0, quota.limit - used), resetAt };
}
