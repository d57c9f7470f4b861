/**
 * A small part of the SDK, for programs that only read and write texts: requests for rooms, and neither files nor live
 * channels nor encrypted rooms. It loads nothing on demand.
 */
import { check, checkOptions, withArgumentChecks } from './arguments.ts';
import type { NewRoom as AnyNewRoom, Creation, Client as WholeClient } from './client.ts';
import { type ClientOptions, openTransport } from './client-options.ts';
import { PoproomError } from './error.ts';
import { createJsonRequests, type JsonRequests } from './requests.ts';
import { isHealthReport } from './response-checks.ts';
import { createRoomPin, needsKey, parseRoom, requestRoom } from './room-access.ts';
import type { CallOptions } from './transport.ts';

export type * from '../protocol/types.ts';
export type { ClientOptions } from './client-options.ts';
export { PoproomError, type PoproomErrorCode } from './error.ts';
export type { EditOptions, NewWebhook, WriteOptions } from './requests.ts';
export type { CallOptions, RateLimit } from './transport.ts';

/** The requests of a room that have JSON bodies. */
export interface Room extends JsonRequests {}

export interface NewRoom extends AnyNewRoom {
  encrypted?: false | undefined;
}

export interface CreatedRoom extends Room, Creation {}

export interface Client extends Pick<WholeClient, 'url' | 'rateLimit' | 'health'> {
  /** Creates a room. The returned room knows its PIN. */
  createRoom(request?: NewRoom, options?: CallOptions): Promise<CreatedRoom>;
  /**
   * Returns a room by its code, in any case, with or without dashes, or by its link. Sends no request yet. Throws
   * `KEY_REQUIRED` for an encrypted room.
   */
  room(codeOrLink: string, access?: { pin?: string | undefined }): Room;
}

/** Creates a client for a server. It sends no request yet. */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);
  const { createPassword, deviceId, deviceName } = options;
  const open = (code: string, pin?: string): Room =>
    withArgumentChecks(createJsonRequests(transport, { code, pin: createRoomPin(pin), deviceId, deviceName }));

  return {
    url: transport.url,
    get rateLimit() {
      return transport.rateLimit;
    },
    room(codeOrLink, { pin } = {}) {
      check('code', codeOrLink, [(value) => typeof value === 'string', 'the code or the link of a room']);
      const parsed = parseRoom(transport.url, codeOrLink);
      if (parsed.key !== undefined || needsKey(parsed.code)) throw encryptedRoom();
      return open(parsed.code, pin);
    },
    async createRoom({ encrypted, ...request } = {}, options) {
      checkOptions(options);
      if (encrypted || 'encryption' in request) throw encryptedRoom();
      const headers = { 'X-Create-Password': createPassword };
      const { roomId, expiresAt, hasPin, name } = await requestRoom(transport, request, { ...options, headers });
      return Object.assign(open(roomId, request.pin), { expiresAt, hasPin, name });
    },
    // A degraded server sends its report with status 503.
    health: (options) => transport.call('/api/health', isHealthReport, { ...options, acceptedStatus: 503 }),
  };
}

const encryptedRoom = () => new PoproomError('KEY_REQUIRED', 'Encrypted rooms need the whole SDK, without /lite.');
