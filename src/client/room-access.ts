/** How a client accesses a room. */
import type { RoomEncryption } from './encryption.ts';
import type { RoomPin } from './room-pin.ts';

export interface RoomAccess {
  code: string;
  pin: RoomPin;
  deviceId: string | undefined;
  deviceName: string | undefined;
  /** Set if the caller has a room key. Nothing is sent in plaintext then. */
  encryption?: RoomEncryption | undefined;
}

export const roomPath = (code: string): string => `/api/rooms/${encodeURIComponent(code)}`;

/** The headers that every request to the room needs. Never part of a URL. */
export async function accessHeaders({ pin, encryption }: RoomAccess): Promise<Record<string, string | undefined>> {
  return encryption ? { 'X-Room-Auth': (await encryption.unlock()).auth } : { 'X-Room-Pin': pin.current };
}
