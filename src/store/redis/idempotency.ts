/** Requests with idempotency keys in Redis. All keys of a client have one hash tag. Redis removes them itself. */
import type { IdempotencyStore } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { script } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

export function createIdempotencyStore(redis: Redis, { requests }: Keys): IdempotencyStore {
  return {
    async begin({ client, key }, runner, now, leaseMs) {
      const { results, order, running } = requests(client, key);
      const reply = await redis.run(begin, [results, order, running], [key, runner, now, leaseMs]);
      if (typeof reply === 'string') return { state: reply as 'started' | 'running' };
      const [fingerprint, result] = reply as [string, string];
      return { state: 'finished', request: { fingerprint, result } };
    },

    async renew({ client, key }, runner, _now, leaseMs) {
      await redis.run(renew, [requests(client, key).running], [runner, leaseMs]);
    },

    async finish({ client, key }, runner, { fingerprint, result }, { expiresAt, perClient }) {
      const { results, order, running } = requests(client, key);
      const args = [key, runner, `${fingerprint} ${result}`, expiresAt, perClient, keptMs];
      await redis.run(finish, [results, order, running], args);
    },

    async abandon({ client, key }, runner) {
      await redis.run(abandon, [requests(client, key).running], [runner]);
    },
  };
}

/** Longer than results are valid. Redis removes all of a client this long after its last one. */
const keptMs = 25 * 3600_000;

const begin = script(`
  for _, expired in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[3], 'LIMIT', 0, 50)) do
    redis.call('ZREM', KEYS[2], expired)
    redis.call('HDEL', KEYS[1], expired)
  end
  local known = redis.call('HGET', KEYS[1], ARGV[1])
  local expires_at = known and redis.call('ZSCORE', KEYS[2], ARGV[1])
  if expires_at and tonumber(expires_at) > tonumber(ARGV[3]) then
    local at = string.find(known, ' ', 1, true)
    return {string.sub(known, 1, at - 1), string.sub(known, at + 1)}
  end
  return redis.call('SET', KEYS[3], ARGV[2], 'NX', 'PX', ARGV[4]) and 'started' or 'running'
`);

const renew = script(`
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

const abandon = script(`
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

const finish = script(`
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
  local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
  if excess > 0 then
    for _, oldest in ipairs(redis.call('ZRANGE', KEYS[2], 0, excess - 1)) do
      redis.call('ZREM', KEYS[2], oldest)
      redis.call('HDEL', KEYS[1], oldest)
    end
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  if redis.call('GET', KEYS[3]) == ARGV[2] then redis.call('DEL', KEYS[3]) end
`);
