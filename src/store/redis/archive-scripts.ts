/** The scripts of the archive; what holds for all scripts stands in scripts.ts. */
import { script } from '../../redis/script.ts';

/** KEYS: room, files, trusted. ARGV: now. */
export const readRecord = script(`
local room = redis.call('HMGET', KEYS[1], 'createdAt', 'expiresAt', 'pinMac', 'seq', 'pinAttempts', 'content',
  'version', 'writtenAt')
if not room[2] or tonumber(room[2]) <= tonumber(ARGV[1]) then return false end
return {room, redis.call('HVALS', KEYS[2]), redis.call('ZRANGE', KEYS[3], 0, -1)}
`);

/**
 * All rooms by their expiry, so that the sweep will meet this one. A code that is there with the same expiry was left
 * by a restoration that broke off. KEYS: all rooms by expiry. ARGV: code, expiresAt. Returns whether the code is ours.
 */
export const claimRestored = script(`
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 1 then return 1 end
return tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) == tonumber(ARGV[2]) and 1 or 0
`);

/**
 * KEYS: room, trusted, files, blobs, trash. ARGV: milliseconds to keep, number of the room's fields and values, these,
 * number of trusted clients, these, then for each file its id, its blob and its entry.
 */
export const restoreRoom = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local fieldsEnd = 2 + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], unpack(ARGV, 3, fieldsEnd))
redis.call('PEXPIRE', KEYS[1], ARGV[1])

redis.call('DEL', KEYS[2], KEYS[3])
local trustedEnd = fieldsEnd + 1 + tonumber(ARGV[fieldsEnd + 1])
for i = fieldsEnd + 2, trustedEnd do redis.call('ZADD', KEYS[2], i, ARGV[i]) end
redis.call('PEXPIRE', KEYS[2], ARGV[1])

for i = trustedEnd + 1, #ARGV, 3 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 2])
  redis.call('SADD', KEYS[4], ARGV[i + 1])
  redis.call('SREM', KEYS[5], ARGV[i + 1])
end
return 1
`);

/** KEYS: keys by id, in force by hash, ids in force by name. ARGV: id, hash, name, json, 1 if it is in force. */
export const restoreKey = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if ARGV[5] == '1' then
  if redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[1]) == 0 then return 0 end
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
`);
