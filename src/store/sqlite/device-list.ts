/** Devices that were seen in a room of late. In memory only: a minute after a restart all that live are back. */
import type { GuardRules } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';

export type DeviceList = ReturnType<typeof createDeviceList>;

export function createDeviceList({ deviceSeenMs, devicesPerRoom }: GuardRules) {
  /** By room, the moment each device was last seen, longest ago first. */
  const rooms = new Map<RoomCode, Map<string, number>>();

  function dropUnseen(code: RoomCode, devices: Map<string, number>, now: number): void {
    for (const [id, seenAt] of devices) {
      if (seenAt > now - deviceSeenMs) break;
      devices.delete(id);
    }
    if (devices.size === 0) rooms.delete(code);
  }

  return {
    seen(code: RoomCode, deviceId: string, now: number): void {
      const devices = rooms.get(code) ?? new Map<string, number>();
      devices.delete(deviceId);
      if (devices.size >= devicesPerRoom) devices.delete(devices.keys().next().value as string);
      rooms.set(code, devices.set(deviceId, now));
    },

    count(code: RoomCode, now: number): number {
      const devices = rooms.get(code);
      if (!devices) return 0;
      dropUnseen(code, devices, now);
      return devices.size;
    },

    dropAllUnseen(now: number): void {
      for (const [code, devices] of rooms) dropUnseen(code, devices, now);
    },
  };
}
