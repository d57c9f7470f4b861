/** The client of the SDK: a server, and its rooms with their shared texts. */
import type { CreateRoomRequest, FileUploaded, HealthReport } from '../protocol/types.ts';
import { check, checkFiles, checkOptions, withArgumentChecks } from './arguments.ts';
import { type ClientOptions, openTransport } from './client-options.ts';
import { type WatchOptions, watchBody } from './download.ts';
import { type KeyOptions, loadEncryption, openEncryptedRoom } from './encrypted-room.ts';
import type { LiveOptions } from './live-channel.ts';
import { createRoomText, type LiveRoom, type LiveText, type LiveTextOptions, withLiveEnd } from './live-end.ts';
import { streamBody } from './measured-stream.ts';
import { isHealthReport } from './response-checks.ts';
import { createRoomHandle, type RoomBase, type RoomKeyAccess } from './room.ts';
import { createRoomPin, needsKey, parseRoom, type RoomAccess, requestRoom } from './room-access.ts';
import type { CallOptions, RateLimit, Transport } from './transport.ts';
import { type FileToUpload, type UploadAllOptions, type UploadSource, uploadAll } from './upload.ts';

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
export interface Creation {
  /** ISO 8601 timestamp. */
  readonly expiresAt: string;
  readonly hasPin: boolean;
  /** Undefined if the room has no name. */
  readonly name?: string | undefined;
}

/** Creates a client for a server. It sends no request yet. */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options, streamBody);
  const { createPassword, deviceId, deviceName, deviceColor } = options;
  const password = { 'X-Create-Password': createPassword };
  const access = (code: string, pin?: string) => ({ code, pin: createRoomPin(pin), deviceId, deviceName, deviceColor });
  const plainRoom = (code: string, pin?: string) => toRoom(openRoom(transport, access(code, pin)), deviceId);
  const sealedRoom = (code: string, source: KeyOptions) =>
    toRoom(openEncryptedRoom(transport, access(code), source, openRoom).room, deviceId);

  async function createEncrypted(request: CreateRoomRequest, options?: CallOptions) {
    const { createEncrypted } = await loadEncryption();
    const post = (json: CreateRoomRequest) => requestRoom(transport, json, { ...options, headers: password });
    const { room, ...created } = await createEncrypted(post, sealedRoom, request);
    return withCreation(room, created);
  }

  return {
    url: transport.url,
    get rateLimit() {
      return transport.rateLimit;
    },
    room(codeOrLink, { pin, key, salt, seen } = {}) {
      check('code', codeOrLink, [(value) => typeof value === 'string', 'the code or the link of a room']);
      const { code, key: linkKey } = parseRoom(transport.url, codeOrLink);
      const roomKey = key ?? linkKey;
      const isEncrypted = roomKey !== undefined || needsKey(code);
      return isEncrypted ? sealedRoom(code, { key: roomKey, salt, seen }) : plainRoom(code, pin);
    },
    async createRoom({ encrypted = false, ...request } = {}, options) {
      checkOptions(options);
      if (encrypted) return createEncrypted(request, options);
      const created = await requestRoom(transport, request, { ...options, headers: password });
      return withCreation(plainRoom(created.roomId, request.pin), created);
    },
    // A degraded server sends its report with status 503.
    health: (options) => transport.call('/api/health', isHealthReport, { ...options, acceptedStatus: 503 }),
  };
}

/** Sends requests without sealing anything, and watches downloads. */
function openRoom(transport: Transport, access: RoomAccess): RoomBase {
  const room = createRoomHandle(transport, access);
  const watched = (response: Response, { timeoutSeconds = transport.timeouts?.seconds, ...options }: WatchOptions) =>
    watchBody(response, { ...options, timeoutSeconds });
  return {
    ...room,
    download: async (file, options = {}) => watched(await room.download(file, options), options),
    downloadZip: async (options = {}) => watched(await room.downloadZip(options), options),
  };
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

/** Not a copy, because `seen` of an encrypted room changes. */
const withCreation = (room: Room, { expiresAt, hasPin, name }: Creation): CreatedRoom =>
  Object.assign(room, { expiresAt, hasPin, name });
