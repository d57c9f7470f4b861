/** How a client accesses a room: creates it, and proves with a PIN or a room key that it may use it. */

import { isEncryptedCode, parseRoomId, type RoomCode } from '../protocol/room-code.ts';
import type { ClientMessage, CreateRoomRequest, Join, RoomCreated, ServerMessage } from '../protocol/types.ts';
import { PoproomError } from './error.ts';
import { isRoomCreated } from './response-checks.ts';
import type { Call, Transport } from './transport.ts';

export interface RoomAccess {
  code: string;
  pin: RoomPin;
  deviceId: string | undefined;
  deviceName: string | undefined;
  deviceColor?: number | undefined;
  /** Set if the caller has a room key. Nothing is sent in plaintext then. */
  encryption?: RoomEncryption | undefined;
}

export const roomPath = (code: string): string => `/api/rooms/${encodeURIComponent(code)}`;

/** The headers that every request to the room needs. Never part of a URL. */
export async function accessHeaders({ pin, encryption }: RoomAccess): Promise<Record<string, string | undefined>> {
  return encryption ? { 'X-Room-Auth': (await encryption.unlock()).auth } : { 'X-Room-Pin': pin.current };
}

/** The PIN that a client sends. When someone else changes the PIN, the client forgets the earlier one. */
interface RoomPin {
  /** Undefined if the room has no PIN or the client does not know it. */
  readonly current: string | undefined;
  /** Uses the new PIN once the request has succeeded. */
  change<T>(pin: string | null, request: Promise<T>): Promise<T>;
  /** The message may report a change of the PIN, by this client or by another one. */
  onMessage(message: ServerMessage): void;
}

export function createRoomPin(given: string | undefined): RoomPin {
  let current = given;
  /** The latest reported change. Several live channels of one client report the same one. */
  let latestSeq = 0;
  /** The response to our own change can arrive before its message. */
  let expectsOwnChange = false;

  return {
    get current() {
      return current;
    },

    async change(pin, request) {
      const seqBefore = latestSeq;
      const response = await request;
      current = pin ?? undefined;
      expectsOwnChange = latestSeq === seqBefore;
      return response;
    },

    onMessage(message) {
      if (message.type === 'snapshot') expectsOwnChange = false;
      if (message.type !== 'room' || !message.pinChanged || message.seq <= latestSeq) return;
      latestSeq = message.seq;
      // The server would count the earlier PIN as a wrong one.
      if (!expectsOwnChange) current = undefined;
      expectsOwnChange = false;
    },
  };
}

/** The encryption of a room, for its live channel and its requests. The code is loaded on demand. */
interface RoomEncryption {
  /** Loads the code, asks the server for the salt and derives the keys, once. Fails if the room is not encrypted. */
  unlock(): Promise<UnlockedRoom>;
  /** Starts to unlock the room. Resolves when the server has sent the salt, before the keys are derived. */
  requestSalt(): Promise<void>;
}

/** An encrypted room whose keys are known. */
export interface UnlockedRoom {
  /** The value of the header `X-Room-Auth`, and of `auth` in `join`; undefined with a link. */
  readonly auth: string | undefined;
  /** A channel with a shared text receives edits; one without receives whole texts. */
  createCodec(text: SealedStart | undefined): ChannelCodec;
}

/**
 * The newest version of a text that a device has seen, with the hash of its envelope. It can be stored as JSON, and must
 * be passed back unchanged.
 */
export interface SeenVersion {
  readonly version: number;
  readonly hash: string;
  /** The hashes of the versions before it, newest first. The list ends at the first unknown version, or after 64. */
  readonly earlier?: readonly string[] | undefined;
}

/** A shared text from an earlier session, whose chain of versions continues. */
export interface SealedStart {
  readonly content: string;
  readonly timestamp: string;
  readonly seen?: SeenVersion | undefined;
}

/** Seals the messages to the server and opens those from it, at the edge of a live channel. */
export interface ChannelCodec {
  /** Own words that are missing in this version, and nothing proves that others have removed them. Asked once. */
  takeLost(version: number): string | undefined;
  /** The position of this version, if it is the newest on this channel or the one before. */
  seenAt(version: number): SeenVersion | undefined;
  /** Adds the key, seals the name of the device, and requests a snapshot unless the server can continue from here. */
  join(join: Join): Join;
  /** Returns a function that seals messages and sends them. */
  onConnected(link: SealedLink): (message: ClientMessage) => void;
  onDisconnected(): void;
  /** Throws an EncryptionError for everything that does not open or does not continue what was seen. */
  open(message: ServerMessage): ServerMessage;
}

/** The connection below a codec. */
export interface SealedLink {
  send(message: ClientMessage): void;
  /** Delivers a message that the server would have sent, such as the refusal of a text that is too long. */
  receive(message: ServerMessage): void;
}

/** Creates a room. Refuses a code of an encrypted room for another one: everyone would be asked for a key that does not exist. */
export async function requestRoom(
  transport: Transport,
  request: CreateRoomRequest,
  { headers, ...options }: Call = {},
): Promise<RoomCreated> {
  const call = { method: 'POST', json: request, headers: { ...transport.newIdempotencyKey(), ...headers }, ...options };
  const created = await transport.call('/api/rooms', isRoomCreated, call);
  if (!request.encryption && isEncryptedCode(created.roomId as RoomCode))
    throw new PoproomError('INVALID_RESPONSE', 'The server gave the new room a code of an encrypted room.');
  return created;
}

/** For devices and texts that the program did not name: 16 letters and digits. `crypto.randomUUID` is not available on pages without TLS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('');
}

/** The code and the key in the link of a room. Throws if the link belongs to another server. */
export function parseRoomLink(serverUrl: string, text: string): { code: string; key: string | undefined } | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname, hash } = new URL(text);
  const base = new URL(serverUrl);
  const prefix = `${base.pathname.replace(/\/+$/, '')}/r/`;
  if (origin !== base.origin || !pathname.startsWith(prefix))
    throw new TypeError('This is not the link of a room on this server.');
  const key = decodeURIComponent(hash.slice(1));
  return { code: decodeURIComponent(pathname.slice(prefix.length)), key: key || undefined };
}

/** Whether a code, as typed, is that of an encrypted room. */
export function needsKey(typedCode: string): boolean {
  const code = parseRoomId(typedCode);
  return code !== undefined && isEncryptedCode(code);
}
