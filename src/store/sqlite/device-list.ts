/** Devices in a room, with a channel or a recent request. In memory only, because they reconnect after a restart. */
import type { Channel, Device, GuardRules } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';

interface Present {
  /** When a request last named each device, least recent first. */
  seen: Map<string, number>;
  /** Channels by id, with the time of the last renewal. */
  channels: Map<string, { device: Device; renewedAt: number }>;
}

export type DeviceList = ReturnType<typeof createDeviceList>;

export function createDeviceList({ deviceSeenMs, channelSeenMs, devicesPerRoom }: GuardRules) {
  const rooms = new Map<RoomCode, Present>();

  function presentIn(code: RoomCode): Present {
    const present = rooms.get(code) ?? { seen: new Map(), channels: new Map() };
    rooms.set(code, present);
    return present;
  }

  function dropStale(code: RoomCode, { seen, channels }: Present, now: number): void {
    // The second condition drops entries from the future, which remain after a clock was set back.
    const isStale = (notedAt: number, afterMs: number) => notedAt <= now - afterMs || notedAt > now + afterMs;
    for (const [id, seenAt] of seen) if (isStale(seenAt, deviceSeenMs)) seen.delete(id);
    for (const [id, { renewedAt }] of channels) if (isStale(renewedAt, channelSeenMs)) channels.delete(id);
    if (seen.size + channels.size === 0) rooms.delete(code);
  }

  /** A device with both a channel and requests is listed once, with the name from its channel. */
  function distinct({ seen, channels }: Present): Device[] {
    const devices = new Map<string, Device>();
    for (const { device } of channels.values()) {
      if (!devices.get(device.id)?.name) devices.set(device.id, device);
    }
    for (const id of seen.keys()) if (!devices.has(id)) devices.set(id, { id, name: undefined });
    return [...devices.values()].slice(0, devicesPerRoom);
  }

  return {
    seen(code: RoomCode, deviceId: string, now: number): void {
      const { seen } = presentIn(code);
      seen.delete(deviceId);
      if (seen.size >= devicesPerRoom) seen.delete(seen.keys().next().value as string);
      seen.set(deviceId, now);
    },

    attach(code: RoomCode, { id, device }: Channel, now: number): 'attached' | 'full' {
      const present = rooms.get(code);
      if (present) dropStale(code, present, now);
      const attached = new Set([...(present?.channels.values() ?? [])].map((channel) => channel.device.id));
      if (attached.size >= devicesPerRoom && !attached.has(device.id)) return 'full';
      presentIn(code).channels.set(id, { device, renewedAt: now });
      return 'attached';
    },

    renew(code: RoomCode, channels: readonly Channel[], now: number): void {
      const present = presentIn(code);
      for (const { id, device } of channels) present.channels.set(id, { device, renewedAt: now });
    },

    detach(code: RoomCode, channelId: string): void {
      const present = rooms.get(code);
      present?.channels.delete(channelId);
      if (present && present.seen.size + present.channels.size === 0) rooms.delete(code);
    },

    list(code: RoomCode, now: number): Device[] {
      const present = rooms.get(code);
      if (!present) return [];
      dropStale(code, present, now);
      return distinct(present);
    },

    dropAllStale(now: number): void {
      for (const [code, present] of rooms) dropStale(code, present, now);
    },
  };
}
