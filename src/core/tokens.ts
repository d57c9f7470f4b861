/**
 * Tokens that the server signs or seals with its secret, for clients and operators. Every node can verify them, and no
 * store keeps them.
 *
 * A token of a room grants access to it for a short time. It is derived from the room, its PIN and the secret, so it
 * becomes invalid when the room ends or its PIN changes.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseRoomCode, parseRoomId, type RoomCode } from '../protocol/room-code.ts';
import { rateWindowMs } from './limits.ts';
import type { ClientId, Clock } from './ports/basics.ts';

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

export interface RoomTokens {
  /** The token is the same for all callers during one unit of time. Returns `last` if its input is unchanged. */
  issue(state: TokenRoom, last?: IssuedToken): IssuedToken;
  /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
  isGenuine(token: string, roomId: string): boolean;
}

/** Resume tokens let a client reconnect to a room that it left minutes ago, even if its limits are used up. */
export const createResumeTokens = (secret: string, clock: Clock): RoomTokens =>
  createRoomTokens(secret, clock, {
    purpose: 'resume',
    unitMs: 60_000,
    // Longer than clients use it (see `tokenLastsMs`), because it may already be old when it is sent.
    validFor: 12,
    skew: 2,
  });

export interface IssuedTicket {
  ticket: string;
  expiresAt: number;
}

interface Tickets {
  issue(state: TokenRoom): IssuedTicket;
  /** Whether this service issued it recently for a room with this code, possibly for an earlier room. */
  isGenuine(ticket: string, roomId: string): boolean;
  /** Whether a genuine ticket belongs to this very room, with its current PIN. */
  isFor(ticket: string, state: TokenRoom): boolean;
}

/** Tickets let a browser download the files of a room by a link, which cannot send a PIN and must not contain one. */
export function createTickets(secret: string, clock: Clock): Tickets {
  const tokens = createRoomTokens(secret, clock, {
    purpose: 'ticket',
    unitMs: 1000,
    validFor: 60,
    skew: clockSkewMs / 1000,
  });
  return {
    issue(state) {
      const { token, expiresAt } = tokens.issue(state);
      return { ticket: token, expiresAt };
    },
    isGenuine: tokens.isGenuine,
    isFor: (ticket, state) => areOfSameRoom(ticket, tokens.issue(state).token),
  };
}

interface UploadGrant {
  client: ClientId;
  /** The code of the room, or the id of the link. */
  roomId: string;
  uploads: number;
}

export interface UploadTicket {
  uploads: number;
  /** Random, for the counter of the uploads that have used it. */
  id: string;
}

interface UploadTickets {
  issue(grant: UploadGrant): IssuedTicket;
  /** Undefined if this service did not issue it recently for this client and this room or link. */
  read(ticket: string, client: ClientId, roomId: string): UploadTicket | undefined;
}

/** Upload tickets stand for uploads that a client has announced and paid for. They grant access to nothing. */
export function createUploadTickets(secret: string, clock: Clock): UploadTickets {
  const sign = (...fields: string[]) =>
    createHmac('sha256', secret)
      .update(['upload ticket', ...fields].join('\n'))
      .digest()
      .subarray(0, 24)
      .toString('base64url');

  return {
    issue({ client, roomId, uploads }) {
      const expiresAt = Math.ceil((clock() + uploadTicketMs) / 1000) * 1000;
      const fields = [(expiresAt / 1000).toString(36), uploads.toString(36), randomBytes(12).toString('base64url')];
      return { ticket: [...fields, sign(client, roomId, ...fields)].join('.'), expiresAt };
    },

    read(ticket, client, roomId) {
      const [, expiry = '', uploads = '', id = '', found = ''] = uploadTicketFormat.exec(ticket) ?? [];
      if (found === '') return undefined;
      const expected = sign(client, roomId, expiry, uploads, id);
      if (!timingSafeEqual(Buffer.from(found), Buffer.from(expected))) return undefined;
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

function createRoomTokens(secret: string, clock: Clock, kind: TokenKind): RoomTokens {
  const { purpose, unitMs, validFor, skew } = kind;
  const mac = (bytes: number, ...fields: (string | number)[]): string =>
    createHmac('sha256', secret).update(fields.join('\n')).digest().subarray(0, bytes).toString('base64url');
  const sign = (code: string, expiry: string, stamp: string) => mac(24, purpose, code, expiry, stamp);
  const unitsNow = () => clock() / unitMs;

  return {
    issue({ room: { code, createdAt }, pinMac }, last) {
      const expiresIn = Math.ceil(unitsNow()) + validFor;
      const expiry = expiresIn.toString(36);
      const room = ['room', code, createdAt, Buffer.from(pinMac ?? []).toString('hex')];
      const source = [expiry, ...room].join();
      // Rooms are read often, and computing the hashes would take most of that time.
      if (last?.source === source) return last;
      const stamp = mac(12, ...room);
      const token = [expiry, stamp, sign(code, expiry, stamp)].join('.');
      return { token, expiresAt: expiresIn * unitMs, source };
    },

    isGenuine(token, roomId) {
      const [, expiry = '', stamp = '', found = ''] = tokenFormat.exec(token) ?? [];
      const code = parseRoomId(roomId);
      if (!code || found === '') return false;
      const left = Number.parseInt(expiry, 36) - unitsNow();
      // A token that is valid for too long was issued by a clock that was ahead.
      if (left <= 0 || left > validFor + 1 + skew) return false;
      return timingSafeEqual(Buffer.from(found), Buffer.from(sign(code, expiry, stamp)));
    },
  };
}

const tokenFormat = /^([0-9a-z]{1,8})\.([\w-]{16})\.([\w-]{32})$/;

/** Whether two genuine tokens belong to the same room with the same PIN. */
export function areOfSameRoom(one: string, other: string): boolean {
  const [stamp, otherStamp] = [stampOf(one), stampOf(other)];
  return stamp.length === otherStamp.length && timingSafeEqual(stamp, otherStamp);
}

const stampOf = (token: string) => Buffer.from(token.split('.')[1] ?? '');

/** Names rooms to operators without their codes. */
export interface RoomHandles {
  handleOf(code: RoomCode): string;
  /** Undefined if it is not a handle of this server. */
  codeOf(handle: string): RoomCode | undefined;
}

/** Base64url may begin with `-`, which a command line takes for an option. */
const handlePrefix = 'r';

/** The same code always has the same handle: the IV is a hash of the code. */
export function createRoomHandles(secret: string): RoomHandles {
  const derive = (purpose: string) => createHmac('sha256', secret).update(`admin room ${purpose}`).digest();
  const [key, ivKey] = [derive('key'), derive('iv')];

  return {
    handleOf(code) {
      const iv = createHmac('sha256', ivKey).update(code).digest().subarray(0, ivBytes);
      return handlePrefix + seal(code, key, iv).toString('base64url');
    },

    codeOf(handle) {
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
