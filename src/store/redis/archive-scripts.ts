/** Scripts of the archive. See scripts.ts for what applies to all scripts. */
import { script } from '../../redis/script.ts';
import { textAndLog } from './lua.ts';

/** KEYS: room, files, trusted, edits, history, history texts. ARGV: now. */
export const readRecord = script(`${textAndLog}
local room = redis.call('HMGET', KEYS[1], 'createdAt', 'expiresAt', 'pinMac', 'seq', 'pinAttempts', 'keepsHistory', 'revision',
  'client', 'network', 'textCharge', 'name', 'salt')
if not room[2] or tonumber(room[2]) <= tonumber(ARGV[1]) then return false end
return {room, redis.call('HVALS', KEYS[2]), redis.call('ZRANGE', KEYS[3], 0, -1), textAndLog(KEYS[1], KEYS[4], 1e9),
  redis.call('ZRANGE', KEYS[5], 0, -1), redis.call('HGETALL', KEYS[6])}
`);

/**
 * Adds the room to the list of rooms by expiry, so that the sweep finds it. An entry with the same expiry is left from
 * an interrupted restore. KEYS: all rooms by expiry. ARGV: code, expiresAt. Returns whether the code is ours.
 */
export const claimRestored = script(`
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 1 then return 1 end
return tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) == tonumber(ARGV[2]) and 1 or 0
`);

/**
 * KEYS: room, trusted, files, edits, history, history texts, blobs, trash, owners of the trash, stored bytes. ARGV:
 * milliseconds to keep, then five lists, each after the number of its items: fields of the room with their values,
 * trusted clients, entries of the log, checkpoints (version, json, content), files (id, blob, size, entry).
 */
export const restoreRoom = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 2, 6 do redis.call('DEL', KEYS[i]) end

local last = 1
local function each(size, restore)
  local count = tonumber(ARGV[last + 1])
  for i = 1, count do
    local first = last + 2 + (i - 1) * size
    restore(i, unpack(ARGV, first, first + size - 1))
  end
  last = last + 1 + count * size
end

each(2, function(_, field, value) redis.call('HSET', KEYS[1], field, value) end)
each(1, function(i, client) redis.call('ZADD', KEYS[2], i, client) end)
each(1, function(_, entry) redis.call('RPUSH', KEYS[4], entry) end)
each(3, function(_, version, info, content)
  redis.call('ZADD', KEYS[5], version, info)
  redis.call('HSET', KEYS[6], version, content)
end)
each(4, function(_, id, blob, size, entry)
  redis.call('HSET', KEYS[3], id, entry)
  redis.call('SADD', KEYS[7], blob)
  redis.call('SREM', KEYS[8], blob)
  redis.call('HDEL', KEYS[9], blob)
  redis.call('INCRBY', KEYS[10], size)
end)

for _, key in ipairs({KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6]}) do redis.call('PEXPIRE', key, ARGV[1]) end
return 1
`);

/** KEYS: keys by id, in force by hash, ids in force by name. ARGV: id, hash, name, json, 1 if it is active. */
export const restoreKey = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if ARGV[5] == '1' then
  if redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[1]) == 0 then return 0 end
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
`);
