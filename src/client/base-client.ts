/** The client without the text engine, which the page loads only when it joins a room. */
import type { CreateRoomRequest, HealthReport } from '../protocol/types.ts';
import { createEncryptedRoom, type KeyOptions, loadEncryption, parseRoomLink } from './encrypted-room.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RetryOptions } from './retry.ts';
import { createRoomHandle } from './room.ts';
import type { RoomBase, RoomKeyAccess } from './room-base.ts';
import { isHealthReport, isRoomCreated } from './shapes.ts';
import { type CallOptions, createTransport } from './transport.ts';

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
}

export interface BaseClient<Room extends RoomBase = RoomBase> {
  readonly url: string;
  /** From the last response. Undefined before the first one, and if the server has no limit. */
  readonly rateLimit: RateLimit | undefined;
  /**
   * Creates a room. The returned room knows its PIN. With `encrypted`, the server cannot read the room: only devices with
   * its key can, which is in `key` and `link` of the returned room. Keep it: nobody can recover it.
   */
  createRoom(request?: NewRoom, options?: CallOptions): Promise<Room & Creation>;
  /**
   * Returns a room by its code, in any case, with or without dashes, or by its link, which may contain a room key after
   * `#`. Sends no request yet.
   */
  room(codeOrLink: string, access?: RoomKeyAccess): Room;
  health(options?: CallOptions): Promise<HealthReport>;
}

export interface NewRoom extends Omit<CreateRoomRequest, 'encryption'> {
  /** Makes an encrypted room, which has a room key instead of a PIN. */
  encrypted?: boolean | undefined;
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
  { url, apiKey, deviceId, deviceName, retry = false }: ClientOptions,
  toRoom: (room: RoomBase) => Room,
): BaseClient<Room> {
  const transport = createTransport({ url, apiKey, retry: retry === true ? {} : retry || undefined });
  const access = (code: string, pin?: string) => ({ code, pin, deviceId, deviceName });
  const plainRoom = (code: string, pin?: string) => toRoom(createRoomHandle(transport, access(code, pin)));
  const sealedRoom = (code: string, source: KeyOptions) => toRoom(createEncryptedRoom(transport, access(code), source));
  const post = (json: CreateRoomRequest, options: CallOptions | undefined) =>
    transport.call('/api/rooms', isRoomCreated, { method: 'POST', json, ...options });

  async function createEncrypted(request: CreateRoomRequest, options?: CallOptions) {
    const { createEncrypted } = await loadEncryption();
    const { room, expiresAt, hasPin, name } = await createEncrypted((json) => post(json, options), sealedRoom, request);
    return withCreation(room, { expiresAt, hasPin, name });
  }

  return {
    url: transport.url,
    get rateLimit() {
      return transport.rateLimit;
    },
    room(codeOrLink, { pin, key, seen } = {}) {
      const link = parseRoomLink(transport.url, codeOrLink);
      const code = link?.code ?? codeOrLink;
      const roomKey = key ?? link?.key;
      return roomKey === undefined ? plainRoom(code, pin) : sealedRoom(code, { key: roomKey, seen });
    },
    async createRoom({ encrypted = false, ...request } = {}, options) {
      if (encrypted) return createEncrypted(request, options);
      const { roomId, expiresAt, hasPin, name } = await post(request, options);
      return withCreation(plainRoom(roomId, request.pin), { expiresAt, hasPin, name });
    },
    // A degraded server sends its report with status 503.
    health: (options) => transport.call('/api/health', isHealthReport, { ...options, acceptedStatus: 503 }),
  };
}

/** Not a copy, because `seen` of an encrypted room changes. */
const withCreation = <Room extends RoomBase>(room: Room, creation: Creation): Room & Creation =>
  Object.assign(room, creation);
