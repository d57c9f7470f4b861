/**
 * Tokens that the server signs or seals with its secret, for clients and operators. Every node can verify them, and no
 * store keeps them.
 *
 * A token of a room grants access to it for a short time. It is derived from the room, its PIN and the secret, so it
 * becomes invalid when the room ends or its PIN changes.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseRoomCode, parseRoomId, type RoomCode } from '../protocol/room-code.ts';
import type { ClientId, Clock } from './ports/basics.ts';
import { rateWindowMs } from './ports/clients.ts';

interface TokenKind {
  /** Part of the signature: a token of one kind is not valid as another. */
  purpose: string;
  /** The unit of the other times, in milliseconds. */
  unitMs: number;
  validFor: number;
  /** The maximum clock difference between nodes. */
  skew: number;
}

export interface IssuedToken {
  token: string;
  expiresAt: number;
  /** The input that it was derived from; as secret as the PIN. */
  source: string;
}

interface TokenRoom {
  /** Its code, or the id of a link. */
  room: { code: string; createdAt: number };
  pinMac: Uint8Array | undefined;
}

export type RoomTokens = ReturnType<typeof createRoomTokens>;

/**
 * Resume tokens let a client reconnect to a room that it left minutes ago, even if its limits are used up. They are valid
 * for longer than clients use them (see `tokenLastsMs`), because a token may already be old when it is sent.
 */
export const createResumeTokens = (secret: string, clock: Clock): RoomTokens =>
  createRoomTokens(secret, clock, { purpose: 'resume', unitMs: 60_000, validFor: 12, skew: 2 });

export type IssuedTicket = { ticket: string; expiresAt: number };

/** Tickets let a browser download the files of a room by a link, which cannot send a PIN and must not contain one. */
export function createTickets(secret: string, clock: Clock) {
  const kind = { purpose: 'ticket', unitMs: 1000, validFor: 60, skew: clockSkewMs / 1000 };
  const { issue, isGenuine } = createRoomTokens(secret, clock, kind);
  return {
    isGenuine,
    issue(state: TokenRoom): IssuedTicket {
      const { token, expiresAt } = issue(state);
      return { ticket: token, expiresAt };
    },
    /** Whether a genuine ticket belongs to this very room, with its current PIN. */
    isFor: (ticket: string, state: TokenRoom) => areOfSameRoom(ticket, issue(state).token),
  };
}

/** `roomId` is the code of the room, or the id of the link. */
type UploadGrant = { client: ClientId; roomId: string; uploads: number };

export interface UploadTicket {
  uploads: number;
  /** Random, for the counter of the uploads that have used it. */
  id: string;
}

/** Upload tickets stand for uploads that a client has announced and paid for. They grant access to nothing. */
export function createUploadTickets(secret: string, clock: Clock) {
  const sign = (...fields: string[]) => mac(secret, 24, 'upload ticket', ...fields);

  return {
    issue({ client, roomId, uploads }: UploadGrant): IssuedTicket {
      const expiresAt = Math.ceil((clock() + uploadTicketMs) / 1000) * 1000;
      const fields = [(expiresAt / 1000).toString(36), uploads.toString(36), randomBytes(12).toString('base64url')];
      return { ticket: [...fields, sign(client, roomId, ...fields)].join('.'), expiresAt };
    },

    /** Undefined if this service did not issue it recently for this client and this room or link. */
    read(ticket: string, client: ClientId, roomId: string): UploadTicket | undefined {
      const [, expiry = '', uploads = '', id = '', found = ''] = uploadTicketFormat.exec(ticket) ?? [];
      if (found === '' || !areEqual(found, sign(client, roomId, expiry, uploads, id))) return undefined;
      const left = Number.parseInt(expiry, 36) * 1000 - clock();
      // A ticket that is valid for too long was issued by a clock that was ahead.
      if (left <= 0 || left > uploadTicketMs + 1000 + clockSkewMs) return undefined;
      return { uploads: Number.parseInt(uploads, 36), id };
    },
  };
}

/** Afterwards, the client has its requests of the next hour. */
const uploadTicketMs = rateWindowMs;
/** The maximum clock difference between nodes. */
const clockSkewMs = 120_000;
/** From its first upload on, longer than any node accepts the ticket. */
export const uploadTicketCounterMs = uploadTicketMs + 2 * clockSkewMs;
const uploadTicketFormat = /^([0-9a-z]{1,8})\.([0-9a-z]{1,4})\.([\w-]{16})\.([\w-]{32})$/;

function createRoomTokens(secret: string, clock: Clock, { purpose, unitMs, validFor, skew }: TokenKind) {
  const sign = (code: string, expiry: string, stamp: string) => mac(secret, 24, purpose, code, expiry, stamp);
  const unitsNow = () => clock() / unitMs;

  return {
    /** The token is the same for all callers during one unit of time. Returns `last` if its input is unchanged. */
    issue({ room: { code, createdAt }, pinMac }: TokenRoom, last?: IssuedToken): IssuedToken {
      const expiresIn = Math.ceil(unitsNow()) + validFor;
      const expiry = expiresIn.toString(36);
      const room = ['room', code, createdAt, Buffer.from(pinMac ?? []).toString('hex')];
      const source = [expiry, ...room].join();
      // Rooms are read often, and computing the hashes would take most of that time.
      if (last?.source === source) return last;
      const stamp = mac(secret, 12, ...room);
      const token = [expiry, stamp, sign(code, expiry, stamp)].join('.');
      return { token, expiresAt: expiresIn * unitMs, source };
    },

    /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
    isGenuine(token: string, roomId: string): boolean {
      const [, expiry = '', stamp = '', found = ''] = tokenFormat.exec(token) ?? [];
      const code = parseRoomId(roomId);
      if (!code || found === '') return false;
      const left = Number.parseInt(expiry, 36) - unitsNow();
      // A token that is valid for too long was issued by a clock that was ahead.
      if (left <= 0 || left > validFor + 1 + skew) return false;
      return areEqual(found, sign(code, expiry, stamp));
    },
  };
}

const mac = (secret: string, bytes: number, ...fields: (string | number)[]): string =>
  createHmac('sha256', secret).update(fields.join('\n')).digest().subarray(0, bytes).toString('base64url');

const tokenFormat = /^([0-9a-z]{1,8})\.([\w-]{16})\.([\w-]{32})$/;

/** Whether two genuine tokens belong to the same room with the same PIN. */
export const areOfSameRoom = (one: string, other: string): boolean => areEqual(stampOf(one), stampOf(other));

const stampOf = (token: string) => token.split('.')[1] ?? '';

/** Takes the same time wherever two texts of the same length differ. */
export function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export type RoomHandles = ReturnType<typeof createRoomHandles>;

/** Base64url may begin with `-`, which a command line takes for an option. */
const handlePrefix = 'r';

/** Names rooms to operators without their codes. The same code always has the same handle: the IV is its hash. */
export function createRoomHandles(secret: string) {
  const derive = (purpose: string) => createHmac('sha256', secret).update(`admin room ${purpose}`).digest();
  const [key, ivKey] = [derive('key'), derive('iv')];

  return {
    handleOf(code: RoomCode): string {
      const iv = createHmac('sha256', ivKey).update(code).digest().subarray(0, ivBytes);
      return handlePrefix + seal(code, key, iv).toString('base64url');
    },

    /** Undefined if it is not a handle of this server. */
    codeOf(handle: string): RoomCode | undefined {
      if (!handle.startsWith(handlePrefix)) return undefined;
      const bytes = Buffer.from(handle.slice(handlePrefix.length), 'base64url');
      if (bytes.length <= ivBytes + tagBytes) return undefined;
      try {
        return parseRoomCode(unseal(bytes, key));
      } catch {
        return undefined;
      }
    },
  };
}

/** Masked, because anyone with the code can read the room. */
export const maskCode = (code: RoomCode): string => `${code.slice(0, 2)}${'*'.repeat(code.length - 2)}`;

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts and authenticates a text under a key of 32 bytes. */
export function seal(text: string, key: Buffer, iv: Buffer = randomBytes(ivBytes)): Buffer {
  const cipher = createCipheriv(algorithm, key, iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if it was not sealed under this key. */
export function unseal(bytes: Buffer, key: Buffer): string {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
}
