/** The client of the SDK: a server, and its rooms with their shared texts. */
import { isEncryptedCode, parseLinkId, parseRoomId } from '../protocol/room-code.ts';
import type { CreateRoomRequest, FileUploaded, HealthReport } from '../protocol/types.ts';
import { check, checkClientOptions, checkFiles, checkOptions, withArgumentChecks } from './arguments.ts';
import { watchDownloads } from './download.ts';
import { createEncryptedRoom, type KeyOptions, loadEncryption, parseRoomLink } from './encrypted-room.ts';
import type { LiveOptions } from './live-channel.ts';
import { createRoomText, type LiveRoom, type LiveText, type LiveTextOptions, withLiveEnd } from './live-end.ts';
import { streamBody } from './measured-stream.ts';
import { isHealthReport } from './response-checks.ts';
import { createRetry, newIdempotencyKey, type OnRetry, type RetryOptions } from './retry.ts';
import { createRoomHandle, type RoomBase, type RoomKeyAccess } from './room.ts';
import { createRoomPin, type RoomAccess, requestRoom } from './room-access.ts';
import { createTimeouts } from './silence-limit.ts';
import { type CallOptions, createTransport, type RateLimit, type Transport } from './transport.ts';
import { type FileToUpload, type UploadAllOptions, type UploadSource, uploadAll } from './upload.ts';

export interface ClientOptions {
  /** URL of the server, such as `https://pop.example.org`. */
  url: string;
  /** Sent with every request. Requests then count against the key, not the address. Some servers require one. */
  apiKey?: string | undefined;
  /**
   * The password for creating rooms, if the server requires one, or a token from `POST /api/create-token`. Sent only with
   * the request for a new room.
   */
  createPassword?: string | undefined;
  /** Id of this device: 1 to 64 characters from `A-Za-z0-9_-`. Clients with the same id count as one device. */
  deviceId?: string | undefined;
  /** Name of this device, shown to the other devices in a room. */
  deviceName?: string | undefined;
  /** The colour that this device prefers, from 0 to 7. In each room, the server gives it this one or another. */
  deviceColor?: number | undefined;
  /** Retries requests that fail with 429 or 503, unless that could execute them twice. Default: no retries. */
  retry?: boolean | RetryOptions | undefined;
  /** Called before each wait for a retry, also of uploads and one-time files, which continue after an interruption. */
  onRetry?: OnRetry | undefined;
  /**
   * Fails with `TIMEOUT` if the server neither takes nor sends a byte of a request for this many seconds. 0 or Infinity:
   * no limit. Default: 30.
   */
  timeoutSeconds?: number | undefined;
}

const defaultTimeoutSeconds = 30;

export interface Client {
  readonly url: string;
  /** From the last response. Undefined before the first one, and if the server has no limit. */
  readonly rateLimit: RateLimit | undefined;
  /**
   * Creates a room. The returned room knows its PIN. With `encrypted`, the server cannot read the room: only devices with
   * its key can, which is in `key` and `link` of the returned room. Keep it: nobody can recover it.
   */
  createRoom(request?: NewRoom, options?: CallOptions): Promise<CreatedRoom>;
  /**
   * Returns a room by its code, in any case, with or without dashes, or by its link, which may contain a room key after
   * `#`. Sends no request yet. A code that starts with E is that of an encrypted room: without its key, everything fails
   * with `KEY_REQUIRED`, and nothing is sent.
   */
  room(codeOrLink: string, access?: RoomKeyAccess): Room;
  health(options?: CallOptions): Promise<HealthReport>;
}

export interface NewRoom extends Omit<CreateRoomRequest, 'encryption'> {
  /** Makes an encrypted room, which has a room key instead of a PIN. */
  encrypted?: boolean | undefined;
}

export interface Room extends RoomBase {
  /**
   * Uploads files one after another, which together count as one request. Stops at the first failure; those before it
   * are in the room. A file is a source, or an object with `source` and the options of {@link upload}.
   */
  uploadAll(files: Iterable<UploadSource | FileToUpload>, options?: UploadAllOptions): Promise<FileUploaded[]>;
  /** Joins the room and receives its changes; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
  /** Joins the room and returns its text, which this and other devices can edit at the same time. */
  text(options?: LiveTextOptions): LiveText;
}

export interface CreatedRoom extends Room, Creation {}

/** Details of a room that was just created. */
interface Creation {
  /** ISO 8601 timestamp. */
  readonly expiresAt: string;
  readonly hasPin: boolean;
  /** Undefined if the room has no name. */
  readonly name?: string | undefined;
}

/** Creates a client for a server. It sends no request yet. */
export function createClient(options: ClientOptions): Client {
  checkClientOptions({ ...options });
  const { url, apiKey, createPassword, deviceId, deviceName, deviceColor, retry = false, onRetry } = options;
  const { timeoutSeconds = defaultTimeoutSeconds } = options;
  const password = { 'X-Create-Password': createPassword };
  const retries = retry === true ? {} : retry || undefined;
  const transport = createTransport({
    ...{ url, apiKey, withRetry: createRetry(retries, onRetry), onRetry },
    ...{ newIdempotencyKey: retries && newIdempotencyKey, timeouts: createTimeouts(timeoutSeconds), streamBody },
  });
  const access = (code: string, pin?: string) => ({
    ...{ code, pin: createRoomPin(pin) },
    ...{ deviceId, deviceName, deviceColor },
  });
  const plainRoom = (code: string, pin?: string) => toRoom(openRoom(transport, access(code, pin)), deviceId);
  const sealedRoom = (code: string, source: KeyOptions) =>
    toRoom(createEncryptedRoom(transport, access(code), source, openRoom), deviceId);

  async function createEncrypted(request: CreateRoomRequest, options?: CallOptions) {
    const { createEncrypted } = await loadEncryption();
    const post = (json: CreateRoomRequest) => requestRoom(transport, json, { ...options, headers: password });
    const { room, expiresAt, hasPin, name } = await createEncrypted(post, sealedRoom, request);
    return withCreation(room, { expiresAt, hasPin, name });
  }

  return {
    url: transport.url,
    get rateLimit() {
      return transport.rateLimit;
    },
    room(codeOrLink, { pin, key, salt, seen } = {}) {
      check('code', codeOrLink, [(value) => typeof value === 'string', 'the code or the link of a room']);
      const link = parseRoomLink(transport.url, codeOrLink);
      const given = link?.code ?? codeOrLink;
      const code = parseLinkId(given) ?? given;
      const roomKey = key ?? link?.key;
      const isEncrypted = roomKey !== undefined || needsKey(code);
      return isEncrypted ? sealedRoom(code, { key: roomKey, salt, seen }) : plainRoom(code, pin);
    },
    async createRoom({ encrypted = false, ...request } = {}, options) {
      checkOptions(options);
      if (encrypted) return createEncrypted(request, options);
      const { roomId, expiresAt, hasPin, name } = await requestRoom(transport, request, {
        ...options,
        headers: password,
      });
      return withCreation(plainRoom(roomId, request.pin), { expiresAt, hasPin, name });
    },
    // A degraded server sends its report with status 503.
    health: (options) => transport.call('/api/health', isHealthReport, { ...options, acceptedStatus: 503 }),
  };
}

/** Sends requests without sealing anything. */
function openRoom(transport: Transport, access: RoomAccess): RoomBase {
  const room = createRoomHandle(transport, access);
  return { ...room, ...watchDownloads(transport, room) };
}

/** Adds what only programs need: checks of arguments, the end of a live channel, and the shared text. */
function toRoom(room: RoomBase, deviceId: string | undefined): Room {
  const openLive = room.live;
  const checked = withArgumentChecks(room);
  return Object.assign(checked, {
    async uploadAll(files: Iterable<UploadSource | FileToUpload>, options?: UploadAllOptions) {
      checkFiles(files);
      checkOptions(options);
      return uploadAll(checked, files, options);
    },
    live: (options?: LiveOptions) => withLiveEnd(openLive(options)),
    text: (options: LiveTextOptions = {}) => createRoomText(openLive, deviceId, options),
  });
}

function needsKey(typedCode: string): boolean {
  const code = parseRoomId(typedCode);
  return code !== undefined && isEncryptedCode(code);
}

/** Not a copy, because `seen` of an encrypted room changes. */
const withCreation = (room: Room, creation: Creation): CreatedRoom => Object.assign(room, creation);
