/** The client without the text engine. */
import type { CreateRoomRequest, HealthReport } from '../protocol/types.ts';
import { requestRoom } from './create-room.ts';
import type { RateLimit } from './rate-limit.ts';
import { receive } from './receive.ts';
import { createRetry, newIdempotencyKey, type RetryOptions } from './retry.ts';
import { createRoomHandle, type RoomBase } from './room.ts';
import { createRoomPin } from './room-pin.ts';
import { createTextRequests } from './room-text.ts';
import { isHealthReport } from './shapes.ts';
import { type CallOptions, createTransport } from './transport.ts';
import { upload } from './upload.ts';

export interface ClientOptions {
  /** URL of the server, such as `https://pop.example.org`. */
  url: string;
  /** Sent with every request. Requests then count against the key, not the address. Some servers require one. */
  apiKey?: string | undefined;
  /** Id of this device: 1 to 64 characters from `A-Za-z0-9_-`. Clients with the same id count as one device. */
  deviceId?: string | undefined;
  /** Name of this device, shown to the other devices in a room. */
  deviceName?: string | undefined;
  /** Retries requests that fail with 429 or 503, unless that could execute them twice. Default: no retries. */
  retry?: boolean | RetryOptions | undefined;
  /** Fails with `OFFLINE` if the server does not respond to a request for this many seconds. Default: no limit. */
  timeoutSeconds?: number | undefined;
}

export interface BaseClient<Room extends RoomBase = RoomBase> {
  readonly url: string;
  /** From the last response. Undefined before the first one, and if the server has no limit. */
  readonly rateLimit: RateLimit | undefined;
  /** Creates a room. The returned room knows its PIN. */
  createRoom(request?: CreateRoomRequest, options?: CallOptions): Promise<Room & Creation>;
  /** Returns a room by its code, in any case, with or without dashes. Sends no request yet. */
  room(code: string, access?: { pin?: string | undefined }): Room;
  health(options?: CallOptions): Promise<HealthReport>;
}

/** Details of a room that was just created. */
export interface Creation {
  /** ISO 8601 timestamp. */
  readonly expiresAt: string;
  readonly hasPin: boolean;
  /** Undefined if the room has no name. */
  readonly name?: string | undefined;
}

/** `toRoom` extends each room, for example with its shared text. */
export function createBaseClient<Room extends RoomBase>(
  { url, apiKey, deviceId, deviceName, retry = false, timeoutSeconds }: ClientOptions,
  toRoom: (room: RoomBase) => Room,
): BaseClient<Room> {
  const retries = retry === true ? {} : retry || undefined;
  const transport = createTransport({
    ...{ url, apiKey, withRetry: createRetry(retries) },
    ...{ newIdempotencyKey: retries && newIdempotencyKey, timeoutSeconds },
  });
  const room: BaseClient<Room>['room'] = (code, { pin } = {}) => {
    const access = { code, pin: createRoomPin(pin), deviceId, deviceName };
    const handle = createRoomHandle(transport, access, { upload, receive });
    return toRoom({ ...handle, ...createTextRequests(transport, access, handle) });
  };

  return {
    url: transport.url,
    get rateLimit() {
      return transport.rateLimit;
    },
    room,
    async createRoom(request = {}, options) {
      const { roomId, expiresAt, hasPin, name } = await requestRoom(transport, request, options);
      return { ...room(roomId, request), expiresAt, hasPin, name };
    },
    // A degraded server sends its report with status 503.
    health: (options) => transport.call('/api/health', isHealthReport, { ...options, acceptedStatus: 503 }),
  };
}
