/** Counters of clients in Redis, exact across all nodes: their requests and their misses. Each expires with its window. */

import type { ClientId } from '../../core/ports/basics.ts';
import type { RateCounter } from '../../core/ports/clients.ts';
import type { AccessAttempt, GuardRules } from '../../core/ports/rooms.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Script, scriptWhenFull } from '../../redis/script.ts';
import { CounterBudget, guesserOf } from '../client-counters.ts';
import type { Keys } from './keys.ts';

/** Requests per client and window. */
export function createRateCounter(redis: Redis, keys: Keys, rules: GuardRules): RateCounter {
  const countFor = createCounters(redis, spendRequestScript, keys.spending, new CounterBudget(rules));
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

type Guesser = Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'>;

export interface Misses {
  /** Until when a client is locked out, as far as this node knows. */
  lockedOutUntil(attempt: Guesser): number | undefined;
  /** For a script with `settleLookup`: the counters of a client, the arguments, and what to do with its results. */
  counting(attempt: Guesser): {
    keys: string[];
    args: (string | number)[];
    note(until: number, started: number): void;
  };
  /** Counts a miss. Returns until when the client is locked out, if it already had too many misses. */
  settle(attempt: Guesser, misses: 0 | 1): Promise<number | undefined>;
}

export function createMisses(redis: Redis, keys: Keys, rules: GuardRules): Misses {
  const lockouts = createLockouts();
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);
  const budget = new CounterBudget(rules);
  const countMisses = createCounters(redis, settleLookupScript, keys.misses, budget);

  return {
    lockedOutUntil: (attempt) => lockouts.until(guesserOf(attempt), attempt.now),

    counting(attempt) {
      const { client, isCrossSite, now } = attempt;
      const key = budget.keyFor(client, now);
      return {
        keys: [keys.misses(client), keys.misses(key)],
        args: [rules.missesPerClient, rules.windowMs, isCrossSite ? crossSiteMisses : 0, key === client ? 1 : 0],
        note(until, started) {
          if (until > 0) lockouts.note(guesserOf(attempt), until);
          if (started === 1 && key === client) budget.noteStart(client, client);
        },
      };
    },

    async settle(attempt, misses) {
      if (rules.missesPerClient === 0) return undefined;
      const { client, isCrossSite, now } = attempt;
      const args = [misses, now, rules.missesPerClient, rules.windowMs, isCrossSite ? crossSiteMisses : 0];
      const [isLockedOut, until] = (await countMisses(client, now, args)) as unknown as [number, string];
      if (Number(until) > 0) lockouts.note(guesserOf(attempt), Number(until));
      return isLockedOut === 1 ? Number(until) : undefined;
    },
  };
}

const maxLockouts = 10_000;

/** Clients that this node knows to be locked out. They are rejected without a request to Redis. */
function createLockouts() {
  const lockouts = new Map<string, number>();
  return {
    until(client: string, now: number): number | undefined {
      const until = lockouts.get(client);
      if (until === undefined || until > now) return until;
      lockouts.delete(client);
      return undefined;
    },
    note(client: string, until: number): void {
      if (lockouts.size >= maxLockouts) lockouts.delete(lockouts.keys().next().value as string);
      lockouts.set(client, until);
    },
  };
}

/** The reply of a counter script: the result, and at the end 1 if the counter was started. */
type Reply = [...unknown[], started: number];

/**
 * Runs a script on the counter of a client: its own, or a shared one if the budget is used up. The last argument tells
 * the script whether it may start the counter. If it may not, it returns false.
 */
type CountFor = (client: ClientId, now: number, args: readonly (string | number)[]) => Promise<Reply>;

function createCounters(
  redis: Redis,
  script: Script,
  nameOf: (key: string) => string,
  budget: CounterBudget,
): CountFor {
  return async (client, now, args) => {
    const key = budget.keyFor(client, now);
    const own = (await redis.run(script, [nameOf(client)], [...args, key === client ? 1 : 0])) as Reply | null;
    if (own?.at(-1) === 1) budget.noteStart(client, client);
    return own ?? ((await redis.run(script, [nameOf(key)], [...args, 1])) as Reply);
  };
}

/**
 * Counts a miss. A client with too many misses receives that instead of the result, so that concurrent attempts reveal
 * no more than the limit allows.
 *
 * Takes the key of the counter, whether it is a miss, the time, the limit, the window in milliseconds, the limit for
 * cross-site requests or 0 for others, and whether the counter may be started. Returns whether the client is locked
 * out, until when, and whether the counter was started; false if there is no counter and none may be started.
 */
export const settleLookup = `
local function settleLookup(key, isMiss, now, limit, windowMs, share, mayStart)
  local misses = redis.call('HMGET', key, 'count', 'resetAt', 'crossSite')
  local count, resetAt, crossSite = tonumber(misses[1] or 0), tonumber(misses[2] or 0), tonumber(misses[3] or 0)
  local isNew = resetAt <= now
  if isNew and not mayStart then return false end
  if isNew then count, crossSite, resetAt = 0, 0, now + windowMs end
  local function isShutOut() return count >= limit or (share > 0 and crossSite >= share) end
  if isShutOut() then return {1, string.format('%.0f', resetAt), 0} end
  if not isMiss then return {0, '0', 0} end
  count = count + 1
  if share > 0 then crossSite = crossSite + 1 end
  redis.call('HSET', key, 'count', count, 'resetAt', string.format('%.0f', resetAt), 'crossSite', crossSite)
  redis.call('PEXPIRE', key, windowMs)
  return {0, isShutOut() and string.format('%.0f', resetAt) or '0', isNew and 1 or 0}
end
`;

/** KEYS: misses. ARGV: 1 for a miss, now, limit, windowMs, the limit for cross-site requests or 0, 1 if it may start. */
const settleLookupScript = scriptWhenFull(`${settleLookup}
local now, limit, windowMs, share = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
return settleLookup(KEYS[1], ARGV[1] == '1', now, limit, windowMs, share, ARGV[6] == '1')
`);

/**
 * KEYS: spending. ARGV: 1 to take, now, limit, windowMs, 1 if the counter may be started. Returns whether it is granted,
 * the used requests, the reset time, and whether the counter was started; false if there is no counter and none may be
 * started.
 */
const spendRequestScript = scriptWhenFull(`
local now, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local spending = redis.call('HMGET', KEYS[1], 'used', 'resetAt')
local used, resetAt = tonumber(spending[1] or 0), tonumber(spending[2] or 0)
local isNew = resetAt <= now
if isNew and ARGV[5] == '0' then return false end
if isNew then used, resetAt = 0, now + tonumber(ARGV[4]) end
local granted = used < limit
if ARGV[1] == '1' and granted then
  used = used + 1
  redis.call('HSET', KEYS[1], 'used', used, 'resetAt', string.format('%.0f', resetAt))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return {granted and 1 or 0, used, string.format('%.0f', resetAt), isNew and used > 0 and 1 or 0}
`);
