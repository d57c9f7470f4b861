/** The devices in a room: with a channel on any node or a recent request. */
import type { Device, GuardRules, RoomStore } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import * as scripts from './device-scripts.ts';
import type { Keys } from './keys.ts';

export type DeviceList = Pick<RoomStore, 'attachDevice' | 'renewDevices' | 'detachDevice' | 'listDevices'>;

export function createDeviceList(redis: Redis, keys: Keys, rules: GuardRules): DeviceList {
  return {
    async attachDevice(code, { id, device }, now) {
      const args = [now, rules.channelSeenMs, rules.devicesPerRoom, id, device.id, channelJson(device, now)];
      return (await redis.run(scripts.attachDevice, [keys.ofRoom(code).channels], args)) as 'attached' | 'full';
    },

    async renewDevices(code, channels, now) {
      if (channels.length === 0) return;
      const pairs = channels.flatMap(({ id, device }) => [id, channelJson(device, now)]);
      await redis.run(scripts.renewDevices, [keys.ofRoom(code).channels], [2 * rules.channelSeenMs, ...pairs]);
    },

    async detachDevice(code, channelId) {
      const { channels } = keys.ofRoom(code);
      await redis.send(channels, ['HDEL', channels, channelId]);
    },

    async listDevices(code, now) {
      const { channels, seen } = keys.ofRoom(code);
      const reply = await redis.run(scripts.listDevices, [channels, seen], [now - rules.deviceSeenMs]);
      const [jsons, ids] = reply as [string[], string[]];
      return devicesOf(jsons, ids, now - rules.channelSeenMs).slice(0, rules.devicesPerRoom);
    },
  };
}

interface StoredChannel {
  id: string;
  name?: string;
  renewedAt: number;
}

const channelJson = ({ id, name }: Device, now: number): string =>
  JSON.stringify({ id, name, renewedAt: now } satisfies Omit<StoredChannel, 'name'> & { name: string | undefined });

/** A device with both a channel and requests is listed once, with the name from its channel. */
function devicesOf(jsons: string[], seen: string[], renewedSince: number): Device[] {
  const devices = new Map<string, Device>();
  for (const json of jsons) {
    const { id, name, renewedAt } = JSON.parse(json) as StoredChannel;
    if (renewedAt > renewedSince && !devices.get(id)?.name) devices.set(id, { id, name });
  }
  for (const id of seen) if (!devices.has(id)) devices.set(id, { id, name: undefined });
  return [...devices.values()];
}
