/** Counters of clients in Redis. Each expires with its window. The number that a node starts is limited. */
import type { ClientId, GuardRules } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Script } from '../../redis/script.ts';
import { CounterBudget } from '../counters/budget.ts';

/** The reply of a counter script: the result, and at the end 1 if the counter was started. */
type Reply = [...unknown[], started: number];

/**
 * Runs a script on the counter of a client: its own, or a shared one if the budget is used up. The last argument tells
 * the script whether it may start the counter. If it may not, it returns false.
 */
export type CountFor = (client: ClientId, now: number, args: readonly (string | number)[]) => Promise<Reply>;

export function createCounters(
  redis: Redis,
  script: Script,
  nameOf: (key: string) => string,
  rules: GuardRules,
): CountFor {
  const budget = new CounterBudget(rules);
  return async (client, now, args) => {
    const key = budget.keyFor(client, now);
    const own = (await redis.run(script, [nameOf(client)], [...args, key === client ? 1 : 0])) as Reply | null;
    if (own?.at(-1) === 1) budget.noteStart(client, client);
    return own ?? ((await redis.run(script, [nameOf(key)], [...args, 1])) as Reply);
  };
}
