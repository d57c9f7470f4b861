/** How a client accesses a room: creates it, and proves with a PIN or a room key that it may use it. */
import { isEncryptedCode, parseLinkId, parseRoomId, type RoomCode } from '../protocol/room-code.ts';
import type { CreateRoomRequest, RoomCreated, ServerMessage } from '../protocol/types.ts';
import { PoproomError } from './error.ts';
import { isRoomCreated } from './response-checks.ts';
import type { RoomEncryption } from './room-encryption.ts';
import type { Call, Transport } from './transport.ts';

export interface RoomAccess {
  code: string;
  pin: ReturnType<typeof createRoomPin>;
  deviceId: string | undefined;
  deviceName: string | undefined;
  deviceColor?: number | undefined;
  /** Set if the caller has a room key. Nothing is sent in plaintext then. */
  encryption?: RoomEncryption | undefined;
}

export const roomPath = (code: string): string => `/api/rooms/${encodeURIComponent(code)}`;

/** The headers that every request to the room needs. Never part of a URL. */
export async function accessHeaders({ pin, encryption }: RoomAccess): Promise<Record<string, string | undefined>> {
  return encryption ? { 'X-Room-Auth': (await encryption.unlock()).auth } : { 'X-Room-Pin': pin.current() };
}

/** The PIN that a client sends. When someone else changes the PIN, the client forgets the earlier one. */
export function createRoomPin(given: string | undefined) {
  let current = given;
  /** The latest reported change. Several live channels of one client report the same one. */
  let latestSeq = 0;
  /** The response to our own change can arrive before its message. */
  let expectsOwnChange = false;

  return {
    /** Undefined if the room has no PIN or the client does not know it. */
    current: () => current,

    /** Uses the new PIN once the request has succeeded. */
    async change<T>(pin: string | null, request: Promise<T>): Promise<T> {
      const seqBefore = latestSeq;
      const response = await request;
      current = pin ?? undefined;
      expectsOwnChange = latestSeq === seqBefore;
      return response;
    },

    /** The message may report a change of the PIN, by this client or by another one. */
    onMessage(message: ServerMessage): void {
      if (message.type === 'snapshot') expectsOwnChange = false;
      if (message.type !== 'room' || !message.pinChanged || message.seq <= latestSeq) return;
      latestSeq = message.seq;
      // The server would count the earlier PIN as a wrong one.
      if (!expectsOwnChange) current = undefined;
      expectsOwnChange = false;
    },
  };
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

/** The code and the key of a room, from its code as typed or from its link. Throws for the link of another server. */
export function parseRoom(serverUrl: string, codeOrLink: string): { code: string; key: string | undefined } {
  const isLink = /^https?:\/\//i.test(codeOrLink) && URL.canParse(codeOrLink);
  const { code, key } = isLink ? parseLink(serverUrl, new URL(codeOrLink)) : { code: codeOrLink, key: undefined };
  return { code: parseLinkId(code) ?? code, key };
}

function parseLink(serverUrl: string, { origin, pathname, hash }: URL) {
  const base = new URL(serverUrl);
  const prefix = `${base.pathname.replace(/\/+$/, '')}/r/`;
  if (origin !== base.origin || !pathname.startsWith(prefix))
    throw new TypeError('This is not the link of a room on this server.');
  const key = decodeURIComponent(hash.slice(1)) || undefined;
  return { code: decodeURIComponent(pathname.slice(prefix.length)), key };
}

/** Whether a code, as typed, is that of an encrypted room. */
export function needsKey(typedCode: string): boolean {
  const code = parseRoomId(typedCode);
  return code !== undefined && isEncryptedCode(code);
}
