/** Counters of clients in Redis, exact across all nodes: their requests and their misses. Each expires with its window. */

import type { ClientId } from '../../core/ports/basics.ts';
import type { Allowance, Quota, RateCounter, Spending } from '../../core/ports/clients.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Script, scriptWhenFull } from '../../redis/script.ts';
import { CounterBudget, type Guesser, guesserOf } from '../client-counters.ts';
import type { Keys } from './keys.ts';

export type Requests = ReturnType<typeof createRequests>;

/** Requests per client and window. */
export function createRequests(redis: Redis, keys: Keys, rules: GuardRules) {
  const budget = new CounterBudget(rules);
  const countFor = createCounters(redis, spendRequestScript, keys.spending, budget);
  const spend =
    (take: 0 | 1): RateCounter['take'] =>
    async (client, quota, now) => {
      const reply = (await countFor(client, now, [take, now, quota.limit, quota.windowMs])) as unknown as SpendReply;
      const { granted, ...allowance } = allowanceOf(reply, quota);
      return { granted: granted || take === 0, ...allowance };
    };

  return {
    countsWithAccess: true,
    take: spend(1),
    peek: spend(0),

    /** For a script with `spendRequest`: the counters of a client, the arguments, and what its result means. */
    counting({ client, quota, now }: Spending) {
      const key = budget.keyFor(client, now);
      return {
        keys: [keys.spending(client), keys.spending(key)],
        args: [quota.limit, quota.windowMs, key === client ? 1 : 0],
        allowanceOf(reply: SpendReply): Allowance {
          if (reply[3] === 1 && key === client) budget.noteStart(client, client);
          return allowanceOf(reply, quota);
        },
      };
    },
  };
}

export type SpendReply = [granted: number, used: number, resetAt: string, started: number];

const allowanceOf = ([granted, used, resetAt]: SpendReply, { limit }: Quota): Allowance => ({
  granted: granted === 1,
  remaining: Math.max(0, limit - used),
  resetAt: Number(resetAt),
});

export type Misses = ReturnType<typeof createMisses>;

export function createMisses(redis: Redis, keys: Keys, rules: GuardRules) {
  const lockouts = createLockouts();
  const crossSiteMisses = Math.ceil(rules.missesPerClient / 2);
  const budget = new CounterBudget(rules);
  const countMisses = createCounters(redis, settleLookupScript, keys.misses, budget);

  /** Counts a miss, or none. Returns the misses before it, and until when the client is locked out if they are too many. */
  async function count(attempt: Guesser, misses: 0 | 1) {
    if (rules.missesPerClient === 0) return { count: 0, until: undefined };
    const { client, isCrossSite, now } = attempt;
    const args = [misses, now, rules.missesPerClient, rules.windowMs, isCrossSite ? crossSiteMisses : 0];
    const reply = await countMisses(client, now, args);
    const [isLockedOut, until, counted] = reply as unknown as [number, string, number];
    if (Number(until) > 0) lockouts.note(guesserOf(attempt), Number(until));
    return { count: counted, until: isLockedOut === 1 ? Number(until) : undefined };
  }

  return {
    /** Until when a client is locked out, as far as this node knows. */
    lockedOutUntil: (attempt: Guesser) => lockouts.until(guesserOf(attempt), attempt.now),

    /** For a script with `settleLookup`: the counters of a client, the arguments, and what to do with its results. */
    counting(attempt: Guesser) {
      const { client, isCrossSite, now } = attempt;
      const key = budget.keyFor(client, now);
      return {
        keys: [keys.misses(client), keys.misses(key)],
        args: [isCrossSite ? crossSiteMisses : 0, key === client ? 1 : 0],
        note(until: number, started: number): void {
          if (until > 0) lockouts.note(guesserOf(attempt), until);
          if (started === 1 && key === client) budget.noteStart(client, client);
        },
      };
    },

    count,
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
function createCounters(redis: Redis, script: Script, nameOf: Keys['misses'], budget: CounterBudget) {
  return async (client: ClientId, now: number, args: readonly (string | number)[]): Promise<Reply> => {
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
 * out, until when, its misses, and whether the counter was started; false if there is no counter and none may be started.
 */
export const settleLookup = `
local function settleLookup(key, isMiss, now, limit, windowMs, share, mayStart)
  local misses = redis.call('HMGET', key, 'count', 'resetAt', 'crossSite')
  local count, resetAt, crossSite = tonumber(misses[1] or 0), tonumber(misses[2] or 0), tonumber(misses[3] or 0)
  local isNew = resetAt <= now
  if isNew and not mayStart then return false end
  if isNew then count, crossSite, resetAt = 0, 0, now + windowMs end
  local function isShutOut() return count >= limit or (share > 0 and crossSite >= share) end
  if isShutOut() then return {1, string.format('%.0f', resetAt), count, 0} end
  if not isMiss then return {0, '0', count, 0} end
  count = count + 1
  if share > 0 then crossSite = crossSite + 1 end
  redis.call('HSET', key, 'count', count, 'resetAt', string.format('%.0f', resetAt), 'crossSite', crossSite)
  redis.call('PEXPIRE', key, windowMs)
  return {0, isShutOut() and string.format('%.0f', resetAt) or '0', count, isNew and 1 or 0}
end
`;

/** KEYS: misses. ARGV: 1 for a miss, now, limit, windowMs, the limit for cross-site requests or 0, 1 if it may start. */
const settleLookupScript = scriptWhenFull(`${settleLookup}
local now, limit, windowMs, share = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
return settleLookup(KEYS[1], ARGV[1] == '1', now, limit, windowMs, share, ARGV[6] == '1')
`);

/**
 * Counts a request. Takes the key of the counter, whether to take one, the time, the limit, the window in milliseconds,
 * and whether the counter may be started. Returns whether it is granted, the used requests, the reset time, and whether
 * the counter was started; false if there is no counter and none may be started.
 */
export const spendRequest = `
local function spendRequest(key, isTaken, now, limit, windowMs, mayStart)
  local spending = redis.call('HMGET', key, 'used', 'resetAt')
  local used, resetAt = tonumber(spending[1] or 0), tonumber(spending[2] or 0)
  local isNew = resetAt <= now
  if isNew and not mayStart then return false end
  if isNew then used, resetAt = 0, now + windowMs end
  local granted = used < limit
  if isTaken and granted then
    used = used + 1
    redis.call('HSET', key, 'used', used, 'resetAt', string.format('%.0f', resetAt))
    redis.call('PEXPIRE', key, windowMs)
  end
  return {granted and 1 or 0, used, string.format('%.0f', resetAt), isNew and used > 0 and 1 or 0}
end
`;

/** KEYS: spending. ARGV: 1 to take, now, limit, windowMs, 1 if the counter may be started. */
const spendRequestScript = scriptWhenFull(`${spendRequest}
return spendRequest(KEYS[1], ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1')
`);
