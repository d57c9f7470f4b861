/** A server and its rooms, without the text engine: the page loads that only when a room is joined. */
import type { CreateRoomRequest, HealthReport } from '../protocol/types.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RetryOptions } from './retry.ts';
import { createRoomHandle, type RoomBase } from './room.ts';
import { isHealthReport, isRoomCreated } from './shapes.ts';
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

export interface BaseClient<Room extends RoomBase = RoomBase> {
  readonly url: string;
  /** As of the last answer; undefined before the first, and where there is no limit. */
  readonly rateLimit: RateLimit | undefined;
  createRoom(request?: CreateRoomRequest, options?: CallOptions): Promise<Room & Creation>;
  /** Asks nothing of the server yet. The code may be written in any way that people do. */
  room(code: string, access?: { pin?: string | undefined }): Room;
  health(options?: CallOptions): Promise<HealthReport>;
}

/** What is known of a room that was just created. */
export interface Creation {
  /** An ISO 8601 timestamp. */
  readonly expiresAt: string;
  readonly hasPin: boolean;
}

/** `toRoom` adds to each room what the caller wants of it beside the requests and the live channel. */
export function createBaseClient<Room extends RoomBase>(
  { url, apiKey, deviceId, deviceName, retry = false }: ClientOptions,
  toRoom: (room: RoomBase) => Room,
): BaseClient<Room> {
  const wire = createWire({ url, apiKey, retry: retry === true ? {} : retry || undefined });
  const room: BaseClient<Room>['room'] = (code, { pin } = {}) =>
    toRoom(createRoomHandle(wire, { code, pin, deviceId, deviceName }));

  return {
    url: wire.url,
    get rateLimit() {
      return wire.rateLimit;
    },
    room,
    async createRoom(request = {}, options) {
      const { roomId, expiresAt, hasPin } = await wire.call('/api/rooms', isRoomCreated, {
        method: 'POST',
        json: request,
        ...options,
      });
      return { ...room(roomId, request), expiresAt, hasPin };
    },
    // Of a server that is not well, 503 is the report.
    health: (options) => wire.call('/api/health', isHealthReport, { ...options, answeredBy: 503 }),
  };
}
