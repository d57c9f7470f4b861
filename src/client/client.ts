/** The way in: a server, and its rooms. */
import type { CreateRoomRequest, RoomCreated } from '../protocol/types.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRoomHandle, type Room } from './room.ts';
import { createWire } from './wire.ts';

export interface ClientOptions {
  /** Of the server, such as `https://pop.example.org`. */
  url: string;
  /** Two clients with the same id count as one device. */
  deviceId?: string;
  /** How the others in a room see this device. */
  deviceName?: string;
}

export interface Client {
  /** As of the last answer; undefined before the first, and where there is no limit. */
  readonly rateLimit: RateLimit | undefined;
  createRoom(request?: CreateRoomRequest): Promise<RoomCreated>;
  /** Asks nothing of the server yet. */
  room(code: string, access?: { pin?: string | undefined }): Room;
}

export function createClient({ url, deviceId, deviceName }: ClientOptions): Client {
  const wire = createWire(url);

  return {
    get rateLimit() {
      return wire.rateLimit;
    },
    createRoom: (request = {}) => wire.call<RoomCreated>('/api/rooms', { method: 'POST', json: request }),
    room: (code, { pin } = {}) => createRoomHandle(wire, { code, pin, deviceId, deviceName }),
  };
}
