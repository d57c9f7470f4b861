/** Scripts of devices. See scripts.ts for what applies to all scripts. */
import { script, scriptWhenFull } from '../../redis/script.ts';

/** KEYS: channels. ARGV: now, channelSeenMs, devicesPerRoom, channel id, device id, json. */
export const attachDevice = scriptWhenFull(`
local gone = tonumber(ARGV[1]) - tonumber(ARGV[2])
local devices, count = {}, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local channel = cjson.decode(all[i + 1])
  if channel.renewedAt <= gone then redis.call('HDEL', KEYS[1], all[i])
  elseif not devices[channel.id] then
    devices[channel.id] = true
    count = count + 1
  end
end
if count >= tonumber(ARGV[3]) and not devices[ARGV[5]] then return 'full' end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[6])
redis.call('PEXPIRE', KEYS[1], 2 * tonumber(ARGV[2]))
return 'attached'
`);

/** KEYS: channels. ARGV: milliseconds to keep, then pairs of a channel id and its json. */
export const renewDevices = scriptWhenFull(`
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`);

/** KEYS: channels, seen. ARGV: the time since which requests count. */
export const listDevices = script(`
return {redis.call('HVALS', KEYS[1]), redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf')}
`);
