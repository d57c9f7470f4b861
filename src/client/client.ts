/** The way in: a server, and its rooms. */
import type { CreateRoomRequest, HealthReport, RoomCreated } from '../protocol/types.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RetryOptions } from './retry.ts';
import { createRoomHandle, type Room } from './room.ts';
import { type CallOptions, createWire } from './wire.ts';

export interface ClientOptions {
  /** Of the server, such as `https://pop.example.org`. */
  url: string;
  /** Counts requests by the key and not by the address; some servers ask for one. */
  apiKey?: string | undefined;
  /** Two clients with the same id count as one device. */
  deviceId?: string | undefined;
  /** How the others in a room see this device. */
  deviceName?: string | undefined;
  /** Sends a request again that is refused for a while (429, 503), where that cannot do it twice. */
  retry?: boolean | RetryOptions | undefined;
}

export interface Client {
  readonly url: string;
  /** As of the last answer; undefined before the first, and where there is no limit. */
  readonly rateLimit: RateLimit | undefined;
  createRoom(request?: CreateRoomRequest, options?: CallOptions): Promise<CreatedRoom>;
  /** Asks nothing of the server yet. The code may be written in any way that people do. */
  room(code: string, access?: { pin?: string | undefined }): Room;
  health(options?: CallOptions): Promise<HealthReport>;
}

export interface CreatedRoom extends Room {
  /** An ISO 8601 timestamp. */
  readonly expiresAt: string;
  readonly hasPin: boolean;
}

export function createClient({ url, apiKey, deviceId, deviceName, retry = false }: ClientOptions): Client {
  const wire = createWire({ url, apiKey, retry: retry === true ? {} : retry || undefined });
  const room: Client['room'] = (code, { pin } = {}) => createRoomHandle(wire, { code, pin, deviceId, deviceName });

  return {
    url: wire.url,
    get rateLimit() {
      return wire.rateLimit;
    },
    room,
    async createRoom(request = {}, options) {
      const { roomId, expiresAt, hasPin } = await wire.call<RoomCreated>('/api/rooms', {
        method: 'POST',
        json: request,
        ...options,
      });
      return { ...room(roomId, request), expiresAt, hasPin };
    },
    // Of a server that is not well, 503 is the report.
    health: (options) => wire.call<HealthReport>('/api/health', { ...options, answeredBy: 503 }),
  };
}
