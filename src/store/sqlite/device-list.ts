/** Who is in a room: devices with a channel, and those seen of late. In memory only: after a restart they come back. */
import type { Channel, Device, GuardRules } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';

interface Present {
  /** By device, when a request last named it; longest ago first. */
  seen: Map<string, number>;
  /** By channel, with the moment it was last renewed. */
  channels: Map<string, { device: Device; renewedAt: number }>;
}

export type DeviceList = ReturnType<typeof createDeviceList>;

export function createDeviceList({ deviceSeenMs, channelSeenMs, devicesPerRoom }: GuardRules) {
  const rooms = new Map<RoomCode, Present>();

  function enter(code: RoomCode): Present {
    const present = rooms.get(code) ?? { seen: new Map(), channels: new Map() };
    rooms.set(code, present);
    return present;
  }

  function dropGone(code: RoomCode, { seen, channels }: Present, now: number): void {
    // What was noted by a clock that was ahead, and has been set back, would otherwise stay until that time comes.
    const isGone = (notedAt: number, afterMs: number) => notedAt <= now - afterMs || notedAt > now + afterMs;
    for (const [id, seenAt] of seen) if (isGone(seenAt, deviceSeenMs)) seen.delete(id);
    for (const [id, { renewedAt }] of channels) if (isGone(renewedAt, channelSeenMs)) channels.delete(id);
    if (seen.size + channels.size === 0) rooms.delete(code);
  }

  /** The device of a channel lends its name to the same device seen by requests. */
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
      const { seen } = enter(code);
      seen.delete(deviceId);
      if (seen.size >= devicesPerRoom) seen.delete(seen.keys().next().value as string);
      seen.set(deviceId, now);
    },

    attach(code: RoomCode, { id, device }: Channel, now: number): 'attached' | 'full' {
      const present = rooms.get(code);
      if (present) dropGone(code, present, now);
      const attached = new Set([...(present?.channels.values() ?? [])].map((channel) => channel.device.id));
      if (attached.size >= devicesPerRoom && !attached.has(device.id)) return 'full';
      enter(code).channels.set(id, { device, renewedAt: now });
      return 'attached';
    },

    renew(code: RoomCode, channels: readonly Channel[], now: number): void {
      const present = enter(code);
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
      dropGone(code, present, now);
      return distinct(present);
    },

    dropAllGone(now: number): void {
      for (const [code, present] of rooms) dropGone(code, present, now);
    },
  };
}
