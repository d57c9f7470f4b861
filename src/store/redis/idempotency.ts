/**
 * Requests with idempotency keys in Redis. The result of a request has the hash tag of its room, so that the script
 * that changes the room can store it too. Expired results are removed with the next one, or by Redis itself.
 */
import type { FinishedRequest, IdempotencyStore, RequestKey, RequestRecord } from '../../core/ports/basics.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Script, script } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

export function createIdempotencyStore(redis: Redis, { requests }: Keys): IdempotencyStore {
  return {
    async find(room, { key }, now) {
      const { results } = requests(room);
      const stored = await redis.send(results, ['HGET', results, key]);
      return stored === null || Number.parseInt(String(stored), 10) <= now ? undefined : requestOf(String(stored));
    },

    async begin(room, { key }, runner, now, leaseMs) {
      const { results, lease } = requests(room);
      const reply = await redis.run(beginScript, [results, lease(key)], [key, runner, now, leaseMs]);
      if (reply === 'started') return { state: 'started' };
      if (typeof reply === 'number') return { state: 'running', leaseMs: reply };
      return { state: 'finished', request: requestOf(String(reply)) };
    },

    async renew(room, { key }, runner, _now, leaseMs) {
      await redis.run(renewScript, [requests(room).lease(key)], [runner, leaseMs]);
    },

    async end(room, { key }, runner) {
      await redis.run(endScript, [requests(room).lease(key)], [runner]);
    },
  };
}

/** Without and with a record. */
type OnceScripts = { plain: Script; once: Script };
type Request = { record: RequestRecord | undefined; room: RoomCode | undefined; now: number };

/** Runs a script of a room that returns an earlier request instead, or stores the record of this one. */
export function createRunOnce(redis: Redis, keys: Keys) {
  return (
    scripts: OnceScripts,
    ownKeys: readonly string[],
    args: readonly (string | number)[],
    { record, room, now }: Request,
  ): Promise<unknown> => {
    if (!record) return redis.run(scripts.plain, ownKeys, args);
    const { client, key, expiresAt, perClient, inTotal, codeLength = 0, fingerprint, result } = record;
    const { results, order, ofClients, counts } = keys.requests(room);
    const most = Math.ceil(inTotal / (room === undefined ? 1 : keys.shards.length));
    const bounds = [perClient, most, keptMs];
    return redis.run(
      scripts.once,
      [...ownKeys, results, order, ofClients, counts],
      [...args, client, key, now, expiresAt, codeLength, `${fingerprint} ${result}`, ...bounds],
    );
  };
}

/** The earlier request in the reply of a script, if any. */
export function repeatedIn(reply: unknown): FinishedRequest | undefined {
  if (typeof reply !== 'string' || !reply.startsWith(repeated)) return undefined;
  return requestOf(reply.slice(repeated.length));
}

const repeated = 'repeated ';

/** A stored request: when it expires, the length of a code or 0, the fingerprint, the result. */
function requestOf(stored: string): FinishedRequest {
  const [, codeLength, fingerprint = '', result = ''] = stored.split(' ');
  return { fingerprint, result, ...(codeLength !== '0' && { codeLength: Number(codeLength) }) };
}

/** Longer than results are valid. Redis removes all of them this long after the last one. */
const keptMs = 25 * 3600_000;

/** A stored request that has not expired; nil otherwise. */
const findRequest = `
local function findRequest(results, key, now)
  local stored = redis.call('HGET', results, key)
  if stored and tonumber(string.match(stored, '^%d+')) > tonumber(now) then return stored end
  return nil
end
`;

/** KEYS: results, lease. ARGV: key, runner, now, leaseMs. Returns a request, or how long another one has the key. */
const beginScript = script(`${findRequest}
local stored = findRequest(KEYS[1], ARGV[1], ARGV[3])
if stored then return stored end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[4]) then return 'started' end
return redis.call('PTTL', KEYS[2])
`);

/** KEYS: lease. ARGV: runner, leaseMs. */
const renewScript = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

/** KEYS: lease. ARGV: runner. */
const endScript = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

/**
 * A member names the client, the expiry and the key of a request. All members of a client are one range of `ofClients`,
 * oldest first, because their scores are equal and times have the same number of digits. Beyond the bound of all
 * clients, the one with the most results loses its oldest ones, so that nobody can evict others.
 */
const rememberRequest = `
local function drop(results, order, ofClients, counts, member)
  local client, _, key = string.match(member, '^(%S+) (%S+) (%S+)$')
  redis.call('HDEL', results, key)
  redis.call('ZREM', order, member)
  redis.call('ZREM', ofClients, member)
  if tonumber(redis.call('ZINCRBY', counts, -1, client)) <= 0 then redis.call('ZREM', counts, client) end
end

local function dropOldestOf(client, count, results, order, ofClients, counts)
  local oldest = redis.call('ZRANGEBYLEX', ofClients, '[' .. client .. ' ', '(' .. client .. '!', 'LIMIT', 0, count)
  for _, member in ipairs(oldest) do drop(results, order, ofClients, counts, member) end
end

local function rememberRequest(record, codeLength, ...)
  local client, key, now, expiresAt, _, value, perClient, most, keptMs = unpack(record)
  local results, order, ofClients, counts = ...
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now, 'LIMIT', 0, 50)) do
    drop(results, order, ofClients, counts, member)
  end
  local expired = redis.call('HGET', results, key)
  if expired then
    drop(results, order, ofClients, counts, client .. ' ' .. string.match(expired, '^%d+') .. ' ' .. key)
  end
  local member = client .. ' ' .. expiresAt .. ' ' .. key
  redis.call('HSET', results, key, expiresAt .. ' ' .. codeLength .. ' ' .. value)
  redis.call('ZADD', order, expiresAt, member)
  redis.call('ZADD', ofClients, 0, member)
  local own = tonumber(redis.call('ZINCRBY', counts, 1, client))
  if own > tonumber(perClient) then dropOldestOf(client, own - tonumber(perClient), ...) end
  for _ = 1, math.min(50, redis.call('ZCARD', order) - tonumber(most)) do
    dropOldestOf(redis.call('ZREVRANGE', counts, 0, 0)[1], 1, ...)
  end
  for _, name in ipairs({...}) do redis.call('PEXPIRE', name, keptMs) end
end
`;

/** KEYS: results, order, ofClients, counts. ARGV: client, key. */
const forgetScript = script(`${rememberRequest}
local stored = redis.call('HGET', KEYS[1], ARGV[2])
if not stored then return end
drop(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1] .. ' ' .. string.match(stored, '^%d+') .. ' ' .. ARGV[2])
`);

/** Forgets a request that claimed a code for a new room. */
export async function forgetClaim(redis: Redis, keys: Keys, { client, key }: RequestKey): Promise<void> {
  const { results, order, ofClients, counts } = keys.requests();
  await redis.run(forgetScript, [results, order, ofClients, counts], [client, key]);
}

/**
 * Both forms of a script. With a record, it has further KEYS: results, order, ofClients, counts; and further ARGV:
 * client, key, now, expiresAt, length of the code or 0, fingerprint and result, most results of the client, most of
 * all, how long Redis keeps them. `isDone` is a Lua expression: whether `reply` means that it has made the change.
 */
export function onceScripts(plain: Script, isDone: string): OnceScripts {
  const once = script(`${findRequest}${rememberRequest}
local record, names = {}, {}
for i = 9, 1, -1 do record[i] = table.remove(ARGV) end
for i = 4, 1, -1 do names[i] = table.remove(KEYS) end
local stored = findRequest(names[1], record[2], record[3])
if stored then return '${repeated}' .. stored end
local function run()
${plain.text}
end
local reply = run()
-- A script that returns a string has claimed a code.
local codeLength = type(reply) == 'string' and #reply or record[5]
if ${isDone} then rememberRequest(record, codeLength, unpack(names)) end
return reply
`);
  return { plain, once };
}
