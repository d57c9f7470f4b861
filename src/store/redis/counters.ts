/** Counters of clients in Redis. Each expires with its window; how many a node starts is bounded. */
import type { ClientId, GuardRules } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Script } from '../../redis/script.ts';
import { CounterBudget } from '../counters/budget.ts';

/** Of a counter's script: first what was counted, last 1 if the counter was started. */
type Reply = [...unknown[], started: number];

/**
 * Runs a script on the counter of a client: its own, or where the budget has no further one, one that it shares. The
 * script is told by its last argument whether it may start the counter; where it may not, it returns false.
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
