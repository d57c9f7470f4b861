/** Scripts of stored bytes. See scripts.ts for what applies to all scripts. */
import { script, scriptWhenFull } from '../../redis/script.ts';

/**
 * Charges a blob to a client or network, with at most the rest of the limit. Drops charges that have reached their end,
 * because their rooms ended long ago.
 *
 * KEYS: usage, ends. ARGV: now, blob, least, most, limit or '', end. Returns the bytes, or -1 if `least` does not fit;
 * the bytes of all other blobs; the first end, or '0'.
 */
export const chargeBlob = script(`
local now, most = tonumber(ARGV[1]), tonumber(ARGV[4])
local sum = tonumber(redis.call('HGET', KEYS[1], 'sum') or 0)
local function drop(blob)
  sum = sum - tonumber(redis.call('HGET', KEYS[1], blob) or 0)
  redis.call('HDEL', KEYS[1], blob)
  redis.call('ZREM', KEYS[2], blob)
end
for _, blob in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1000)) do drop(blob) end
drop(ARGV[2])
local function save()
  redis.call('HSET', KEYS[1], 'sum', string.format('%.0f', sum))
  local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
  if not last then return redis.call('DEL', KEYS[1], KEYS[2]) end
  for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], string.format('%.0f', math.max(1, tonumber(last) - now))) end
end

local others = sum
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '0'
local bytes = ARGV[5] == '' and most or math.max(0, math.min(most, tonumber(ARGV[5]) - others))
if bytes < tonumber(ARGV[3]) or (bytes == 0 and most > 0) then
  save()
  return {-1, others, first}
end
sum = sum + bytes
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', bytes))
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[2])
save()
return {bytes, others, first}
`);

/** KEYS: usage, ends. ARGV: blob. */
export const dischargeBlob = scriptWhenFull(`
local bytes = redis.call('HGET', KEYS[1], ARGV[1])
if not bytes then return end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[2]) == 0 then return redis.call('DEL', KEYS[1], KEYS[2]) end
redis.call('HINCRBY', KEYS[1], 'sum', 0 - tonumber(bytes))
`);

/** Moves the ends of charges, if they exist. KEYS: usage, ends. ARGV: now, end, the charged blobs. */
export const moveCharges = script(`
for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'XX', ARGV[2], ARGV[i]) end
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
if not last then return end
local keepMs = string.format('%.0f', math.max(1, tonumber(last) - tonumber(ARGV[1])))
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], keepMs) end
`);

/** KEYS: room. ARGV: bytes. Returns the previous bytes and the expiry of the room; false if the text does not count. */
export const noteTextCharge = script(`
local room = redis.call('HMGET', KEYS[1], 'textCharge', 'expiresAt')
if not room[1] or room[1] == '' then return false end
redis.call('HSET', KEYS[1], 'textCharge', ARGV[1])
return room
`);

/**
 * Records an upload before anything is charged for it, so that nothing stays charged if its node crashes.
 * KEYS: reservations, reserved bytes. ARGV: upload, deadline, bytes. Returns the bytes of all other uploads.
 */
export const noteReservation = script(`
local before = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0)
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
return redis.call('HINCRBY', KEYS[2], 'sum', string.format('%.0f', tonumber(ARGV[3]) - before)) - tonumber(ARGV[3])
`);

/** KEYS: reservations, reserved bytes. ARGV: upload. */
export const dropReservation = scriptWhenFull(`
local bytes = redis.call('HGET', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
if not bytes then return end
redis.call('HDEL', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[1]) == 0 then return redis.call('DEL', KEYS[2]) end
redis.call('HINCRBY', KEYS[2], 'sum', string.format('%.0f', 0 - tonumber(bytes)))
`);
