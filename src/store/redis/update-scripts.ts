/** Scripts that change a room and when it ends. See scripts.ts for what applies to all scripts. */
import { script } from '../../redis/script.ts';
import { absenceOf, fileIn, roomFields } from './lua.ts';

/**
 * KEYS: room, guard, trusted, edits, history, history texts, unfinished files, ends of uploads. ARGV: now,
 * rememberExpiredMs, the pinMac that the client was admitted with or ''; 1 to set the PIN, the pinMac or '', the client;
 * 1 to set the name, the name or ''; the expiry or '', milliseconds to keep the room, milliseconds to keep the guard, how
 * long an upload may be unfinished, code. Returns the seq and the fields of the room.
 *
 * The client was admitted a moment ago, so the comparison of the PINs reveals nothing new.
 */
export const updateRoom = script(`${absenceOf}${fileIn}
local absence = absenceOf(KEYS[1], ARGV[1], ARGV[2])
if absence then return absence end
if redis.call('HGET', KEYS[1], 'pinMac') ~= ARGV[3] then return 'pin-changed' end

if ARGV[9] ~= '' then
  redis.call('HSET', KEYS[1], 'expiresAt', ARGV[9])
  for i = 1, 6 do redis.call('PEXPIRE', KEYS[i], i == 2 and ARGV[11] or ARGV[10]) end
  local uploads = redis.call('HGETALL', KEYS[7])
  for i = 1, #uploads, 2 do
    local endsAt = math.min(tonumber(ARGV[9]), fileIn(uploads[i + 1]).uploadedAt + tonumber(ARGV[12]))
    redis.call('ZADD', KEYS[8], 'XX', string.format('%.0f', endsAt), ARGV[13] .. ' ' .. uploads[i])
  end
end

if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], 'pinMac', ARGV[5], 'pinAttempts', 0)
  redis.call('DEL', KEYS[2], KEYS[3])
  if ARGV[5] ~= '' then
    redis.call('ZADD', KEYS[3], ARGV[1], ARGV[6])
    redis.call('PEXPIRE', KEYS[3], redis.call('PTTL', KEYS[1]))
  end
end

if ARGV[7] == '1' then
  if ARGV[8] == '' then redis.call('HDEL', KEYS[1], 'name') else redis.call('HSET', KEYS[1], 'name', ARGV[8]) end
end
return {redis.call('HINCRBY', KEYS[1], 'seq', 1), redis.call('HMGET', KEYS[1], ${roomFields})}
`);

/**
 * Reads the data of a room that other nodes of a cluster keep and that ends with it. KEYS: room, files, removed files,
 * unfinished files. Returns the expiry, the charge of the text with its client and network, and the entries of all
 * files; false if there is no room.
 */
export const readHoldings = script(`
local room = redis.call('HMGET', KEYS[1], 'expiresAt', 'textCharge', 'client', 'network')
if not room[1] then return false end
return {room, redis.call('HVALS', KEYS[2]), redis.call('HVALS', KEYS[3]), redis.call('HVALS', KEYS[4])}
`);
