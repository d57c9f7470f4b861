/** The events of a live channel. */
import type { DeviceChanges, RoomDevice, SealedEdited, ServerMessage, TextEdited } from '../protocol/types.ts';
import type { PoproomError } from './error.ts';

/** A message about a change of the room. */
export type Change = Exclude<
  ServerMessage,
  { type: 'edit' | 'sealed-edit' | 'devices-changed' | 'written' | 'conflict' | 'error' | 'heartbeat' | 'closed' }
>;

/** A change of the room, or of the connection. */
export type LiveEvent =
  | Change
  | { type: 'connecting' }
  | { type: 'connected' }
  /** Not connected because of `error`. The next attempt is at `until`. */
  | { type: 'waiting'; until: Date; error: PoproomError };

/** Why the live channel ended: the room was deleted or has expired, or the program left it. */
export type Ended = 'deleted' | 'expired' | 'left';

const replies: ReadonlySet<ServerMessage['type']> = new Set(['written', 'conflict', 'error', 'heartbeat', 'closed']);

/** Whether the message is one that only admitted sessions receive. */
export function isAdmission(message: ServerMessage): message is Change | TextEdited | SealedEdited | DeviceChanges {
  return !replies.has(message.type);
}

/** Edits go only to the shared text. */
export function isChange(message: Exclude<ServerMessage, DeviceChanges>): message is Change {
  return isAdmission(message) && message.type !== 'edit' && message.type !== 'sealed-edit';
}

/** Follows the devices in the room. Programs receive the whole list, which `complete` makes of the differences. */
export function createDeviceList() {
  let devices: readonly RoomDevice[] = [];

  return {
    get size() {
      return devices.length;
    },

    complete(message: ServerMessage): Exclude<ServerMessage, DeviceChanges> {
      if (message.type === 'snapshot' || message.type === 'devices') devices = message.devices;
      if (message.type !== 'devices-changed') return message;
      devices = withChanges(devices, message);
      return { type: 'devices', seq: message.seq, devices: [...devices] };
    },
  };
}

function withChanges(devices: readonly RoomDevice[], { joined, left }: DeviceChanges): RoomDevice[] {
  const byId = new Map(devices.map((device) => [device.deviceId, device]));
  for (const deviceId of left) byId.delete(deviceId);
  for (const device of joined) byId.set(device.deviceId, device);
  return [...byId.values()];
}
