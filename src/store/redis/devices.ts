/** The devices in rooms: those with a live channel, and those with a recent request. */
import type { LinkRole } from '../../core/ports/links.ts';
import type { Device, GuardRules, RoomStore } from '../../core/ports/rooms.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import type { Keys } from './keys.ts';

type DeviceList = Pick<RoomStore, 'attachDevice' | 'renewDevices' | 'detachDevice' | 'listDevices'>;

export function createDeviceList(redis: Redis, keys: Keys, rules: GuardRules): DeviceList {
  return {
    async attachDevice(code, { id, device }, now) {
      const { color: preferred, ...uncolored } = device;
      const { channels, colors } = keys.ofRoom(code);
      const limits = [now, rules.channelSeenMs, rules.devicesPerRoom, rules.deviceColors];
      const args = [...limits, id, device.id, channelJson(uncolored, now), preferred ?? ''];
      const reply = (await redis.run(attachDeviceScript, [channels, colors], args)) as number | '' | 'full';
      if (reply === 'full') return reply;
      return reply === '' ? device : { ...device, color: reply };
    },

    async renewDevices(code, channels, now) {
      if (channels.length === 0) return;
      const pairs = channels.flatMap(({ id, device }) => [id, channelJson(device, now)]);
      const roomKeys = keys.ofRoom(code);
      await redis.run(renewDevicesScript, [roomKeys.channels, roomKeys.colors], [2 * rules.channelSeenMs, ...pairs]);
    },

    async detachDevice(code, channelId) {
      const { channels } = keys.ofRoom(code);
      await redis.send(channels, ['HDEL', channels, channelId]);
    },

    async listDevices(code, now) {
      const { channels, seen } = keys.ofRoom(code);
      const reply = await redis.run(listDevicesScript, [channels, seen], [now - rules.deviceSeenMs]);
      const [jsons, ids] = reply as [string[], string[]];
      return devicesOf(jsons, ids, now - rules.channelSeenMs).slice(0, rules.devicesPerRoom);
    },
  };
}

interface StoredChannel extends Device {
  renewedAt: number;
}

const channelJson = ({ id, name, role, color }: Device, now: number): string =>
  JSON.stringify({ id, name, role, color, renewedAt: now });

/** A device with both a channel and requests is listed once, with the name from its channel. */
function devicesOf(jsons: string[], seen: string[], renewedSince: number): Device[] {
  const devices = new Map<string, Device>();
  for (const json of jsons) {
    const { renewedAt, id, name, ...rest } = JSON.parse(json) as StoredChannel;
    if (renewedAt > renewedSince && !devices.get(id)?.name) devices.set(id, { id, name, ...rest });
  }
  for (const device of seen.map(seenDeviceOf)) if (!devices.has(device.id)) devices.set(device.id, device);
  return [...devices.values()];
}

/** The id alone, or for a device with access by a link also its role and the name of the link, which may be empty. */
function seenDeviceOf(member: string): Device {
  const [, id = '', role, name] = /^(\S+)(?: (\S+) (.*))?$/s.exec(member) ?? [];
  return { id, name: name || undefined, ...(role !== undefined && { role: role as LinkRole }) };
}

/**
 * KEYS: channels, colors. ARGV: now, channelSeenMs, devicesPerRoom, deviceColors, channel id, device id, json, preferred
 * colour or ''. Returns the colour, '' if the device prefers none, or 'full'.
 */
const attachDeviceScript = scriptWhenFull(`
local gone = tonumber(ARGV[1]) - tonumber(ARGV[2])
local devices, attached, count = {}, {}, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local channel = cjson.decode(all[i + 1])
  if channel.renewedAt <= gone then redis.call('HDEL', KEYS[1], all[i])
  else
    if channel.color and channel.id ~= ARGV[6] then attached[channel.color] = true end
    if not devices[channel.id] then
      devices[channel.id] = true
      count = count + 1
    end
  end
end
if count >= tonumber(ARGV[3]) and not devices[ARGV[6]] then return 'full' end
local color, json = ARGV[8], ARGV[7]
if color ~= '' then
  color = tonumber(redis.call('HGET', KEYS[2], ARGV[6]) or -1)
  if color < 0 then
    local remembered, unattached = {}, nil
    for _, known in ipairs(redis.call('HVALS', KEYS[2])) do remembered[tonumber(known)] = true end
    for n = 0, tonumber(ARGV[4]) - 1 do
      local next = (tonumber(ARGV[8]) + n) % tonumber(ARGV[4])
      if color < 0 and not attached[next] then
        unattached = unattached or next
        if not remembered[next] then color = next end
      end
    end
    if color < 0 then color = unattached or tonumber(ARGV[8]) end
  end
  if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then redis.call('DEL', KEYS[2]) end
  redis.call('HSET', KEYS[2], ARGV[6], color)
  redis.call('PEXPIRE', KEYS[2], 2 * tonumber(ARGV[2]))
  json = '{"color":' .. color .. ',' .. string.sub(json, 2)
end
redis.call('HSET', KEYS[1], ARGV[5], json)
redis.call('PEXPIRE', KEYS[1], 2 * tonumber(ARGV[2]))
return color
`);

/** KEYS: channels, colors. ARGV: milliseconds to keep, then pairs of a channel id and its json. */
const renewDevicesScript = scriptWhenFull(`
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
`);

/** KEYS: channels, seen. ARGV: the time since which requests count. */
const listDevicesScript = script(`
return {redis.call('HVALS', KEYS[1]), redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf')}
`);
