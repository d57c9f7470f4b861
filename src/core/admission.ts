/** Access control of rooms: every operation on a room starts here. */

import { createHmac, hash } from 'node:crypto';
import { auth } from '../protocol/fields.ts';
import { type LinkRole, linkDevicePrefix, mayDo, type RoomOperation } from '../protocol/link-rights.ts';
import { type LinkId, parseLinkId, parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
import { chain } from './concurrency.ts';
import type { CoreDeps } from './deps.ts';
import { counted, invalidField, PoproomError, roomMissing } from './errors.ts';
import type { ClientId, MaybePromise, Room } from './ports/basics.ts';
import type { Allowance, Quota, Spending } from './ports/clients.ts';
import type { AccessAttempt, Refusal, SealedLog, StoredLink } from './ports/rooms.ts';
import type { Content } from './ports/texts.ts';
import { secondsUntil } from './timestamp.ts';

/** A request to a room, with unchecked input. */
export interface Caller {
  client: ClientId;
  /** Whether a page of another site sent it. */
  isCrossSite?: boolean;
  /** A room code, or the id of a link. */
  roomId: string;
  pin: string | undefined;
  /** The key `auth` of an encrypted room. */
  auth?: string | undefined;
  deviceId: string | undefined;
  /** Set if the access is to count the request. */
  spending?: Spending | undefined;
}

/** A room that a caller has access to, with the link if it does not use the code. */
export type AdmittedRoom = Room & { link?: StoredLink };

/**
 * Every operation of a link is checked here, or by `checkRight` if it arrives on an open live channel. `meanwhile` is
 * called if the store is another server, before it has responded.
 */
export function admit(
  deps: CoreDeps,
  caller: Caller,
  operation: RoomOperation,
  meanwhile?: (code: RoomCode) => void,
): MaybePromise<AdmittedRoom> {
  const link = parseLinkId(caller.roomId);
  if (link) return admitLink(deps, caller, link, operation);
  const attempt = new Attempt(deps, caller);
  const admitting = deps.rooms.admit(attempt);
  if (admitting instanceof Promise && attempt.code) meanwhile?.(attempt.code);
  return chain(
    admitting,
    (admission): MaybePromise<AdmittedRoom> =>
      admission.outcome === 'admitted' ? admission.room : reject(deps, attempt, admission),
  );
}

async function admitLink(deps: CoreDeps, caller: Caller, id: LinkId, operation: RoomOperation): Promise<AdmittedRoom> {
  const { client, isCrossSite, deviceId } = caller;
  const now = deps.clock();
  const device = deviceId === undefined ? undefined : deviceOfLink(checkDeviceId(deviceId));
  const admission = await deps.links.admit({ id, client, isCrossSite: isCrossSite ?? false, deviceId: device, now });
  if (admission.outcome === 'unknown') throw linkMissing();
  if (admission.outcome === 'expired') throw new PoproomError('ROOM_EXPIRED', 'This link has expired.');
  if (admission.outcome !== 'admitted') throw refusal(admission, now);
  const { room, link } = admission;
  checkRight(link.role, operation);
  noteUse(deps, room, link);
  return { ...room, link };
}

/** Throws unless a link may do this. Members may do everything. */
export function checkRight(role: LinkRole | undefined, operation: RoomOperation): void {
  if (role === undefined || mayDo(role, operation)) return;
  throw role === 'read'
    ? new PoproomError('READ_ONLY', 'This link may only read the room.')
    : new PoproomError('DROP_ONLY', 'This link may only add files to the room.');
}

/**
 * The id of a device that has access by a link, as stores and members know it, so that it cannot act as the device of a
 * member. In an encrypted room, members need the rest of it to open the name. A long id is replaced by its hash.
 */
export const deviceOfLink = (deviceId: string): string =>
  linkDevicePrefix +
  (deviceId.length + linkDevicePrefix.length <= 64 ? deviceId : hash('sha256', deviceId, 'base64url'));

/** Writes that are under way, so that many requests together cause one. */
const notedUses = new Set<LinkId>();
const noteUseEveryMs = 60_000;

/** Members see when a link was last used. */
function noteUse({ links, clock }: CoreDeps, { code }: Room, { id, lastUsed = 0 }: StoredLink): void {
  const now = clock();
  if (Math.abs(now - lastUsed) < noteUseEveryMs || notedUses.has(id)) return;
  notedUses.add(id);
  const done = () => notedUses.delete(id);
  // If this fails, a later request notes it.
  links.noteUse(code, id, now).then(done, done);
}

export const linkMissing = () => new PoproomError('ROOM_NOT_FOUND', 'There is no such link. It may have been revoked.');

/** Checks access and reads the text, in one step of the store. */
export function admitToRead<S>(deps: CoreDeps, caller: Caller, toSealed: (content: Content, log: SealedLog) => S) {
  const attempt = new Attempt(deps, caller);
  return chain(deps.rooms.read(attempt), (admission): MaybePromise<Content | S> => {
    if (admission.outcome !== 'admitted') return reject(deps, attempt, admission);
    const { content, sealed } = admission;
    return sealed ? toSealed(content, sealed) : content;
  });
}

async function reject(deps: CoreDeps, attempt: AccessAttempt, admission: Refusal): Promise<never> {
  // The attempt is counted already. If the members cannot be notified, the response stays the same.
  if (admission.outcome === 'pin-incorrect') await notifyMembers(deps, attempt).catch(() => undefined);
  throw refusal(admission, attempt.now);
}

/** Shows the members of the room that someone sent a wrong PIN. The guards limit how often this happens. */
async function notifyMembers({ rooms, bus }: CoreDeps, { code, now }: AccessAttempt): Promise<void> {
  const noted = code && (await rooms.notePinAttempt(code, now));
  if (noted) bus.publish(code, { seq: noted.seq });
}

/** A class, because a getter of an object literal takes 3 µs to create, an eighth of a cached read. */
class Attempt implements AccessAttempt {
  readonly code: RoomCode | undefined;
  readonly client: ClientId;
  readonly isCrossSite: boolean;
  readonly pin: Pin | undefined;
  readonly keyHash: Uint8Array | undefined;
  readonly deviceId: string | undefined;
  readonly now: number;
  readonly spending: Spending | undefined;
  readonly #secret: CoreDeps['secret'];
  #pinMac: Uint8Array | undefined;

  constructor({ clock, secret }: CoreDeps, { roomId, client, isCrossSite, pin, auth, deviceId, spending }: Caller) {
    this.code = parseRoomCode(roomId);
    this.client = client;
    this.isCrossSite = isCrossSite ?? false;
    this.pin = pin === undefined ? undefined : parsePin(pin);
    this.keyHash = auth === undefined ? undefined : hashAuth(auth);
    this.deviceId = deviceId === undefined ? undefined : checkDeviceId(deviceId);
    this.now = clock();
    this.spending = spending;
    this.#secret = secret;
  }

  get pinMac(): Uint8Array | undefined {
    if (this.code && this.pin !== undefined) this.#pinMac ??= macPin(this.#secret, this.code, this.pin);
    return this.#pinMac;
  }
}

/** The hash of the PIN that the caller gave, or of its key if the room is encrypted, as the room stores it. */
export function proofOf({ secret }: CoreDeps, { code, salt }: Room, { pin, auth }: Caller): Uint8Array | undefined {
  if (salt !== undefined) return auth === undefined ? undefined : hashAuth(auth);
  return pin === undefined ? undefined : macPin(secret, code, parsePin(pin));
}

export function checkDeviceId(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw invalidField('X-Device-Id', 'X-Device-Id must be 1 to 64 letters, digits, dashes or underscores.');
}

function refusal(admission: Refusal, now: number): PoproomError {
  switch (admission.outcome) {
    case 'unknown':
      return roomMissing('gone');
    case 'expired':
      return roomMissing('expired');
    case 'pin-required':
      return new PoproomError('PIN_REQUIRED', 'This room requires a PIN. Over HTTP, send it in the header X-Room-Pin.');
    case 'key-required':
      return keyRequired(admission.salt);
    case 'pin-incorrect':
      return wrongProof(admission, now);
    case 'pin-locked':
      return locked(admission, now);
    case 'too-many-misses':
      return lockedOut('RATE_LIMITED', 'Too many unknown room codes or wrong PINs', admission.until, now);
    case 'over-limit':
      return overLimit(admission.quota, admission.allowance, now);
  }
}

export function overLimit({ limit, tier }: Quota, { resetAt }: Allowance, now: number): PoproomError {
  const retryAfter = secondsUntil(resetAt, now);
  const minutes = counted(Math.ceil(retryAfter / 60), 'minute');
  const message = `Too many requests: the ${tier} tier allows ${limit} per hour. Try again in ${minutes}.`;
  return new PoproomError('RATE_LIMITED', message, { retryAfter, details: { reason: 'requests', retryAfter, limit } });
}

/** The salt is all that a stranger with the code may learn. */
function keyRequired(salt: string): PoproomError {
  const message = 'This room is encrypted. Send X-Room-Auth, which clients derive from the room key.';
  return new PoproomError('KEY_REQUIRED', message, { details: { scheme: 'pop1', salt } });
}

function wrongProof({ triesLeft, lockedUntil, isKey }: Extract<Refusal, { outcome: 'pin-incorrect' }>, now: number) {
  const code = isKey ? 'KEY_INCORRECT' : 'PIN_INCORRECT';
  const wrong = `Wrong ${isKey ? 'room key' : 'PIN'}.`;
  if (lockedUntil === undefined) {
    const tries = triesLeft === 1 ? '1 try' : `${triesLeft} tries`;
    return new PoproomError(code, `${wrong} ${tries} left.`, { details: { triesLeft } });
  }
  const lockedFor = secondsUntil(lockedUntil, now);
  const message = `${wrong} Try again in ${counted(lockedFor, 'second')}.`;
  return new PoproomError(code, message, { details: { triesLeft, lockedFor } });
}

function locked({ until, isForLife, isKey }: Extract<Refusal, { outcome: 'pin-locked' }>, now: number): PoproomError {
  if (isKey) return lockedOut('KEY_LOCKED', 'Too many wrong room keys for this room', until, now);
  const reason = 'Too many wrong PINs for this room';
  if (!isForLife) return lockedOut('PIN_LOCKED', reason, until, now);
  const wayOut = 'New devices can join again after someone in it changes the PIN.';
  // Of clients that never gave the correct PIN.
  const retryAfter = Math.min(secondsUntil(until, now), 3600);
  return new PoproomError('PIN_LOCKED', `${reason}. ${wayOut}`, { retryAfter, details: { retryAfter } });
}

export function lockedOut(code: 'PIN_LOCKED' | 'KEY_LOCKED' | 'RATE_LIMITED', why: string, until: number, now: number) {
  const retryAfter = secondsUntil(until, now);
  const details = code === 'RATE_LIMITED' ? { reason: 'misses', retryAfter } : { retryAfter };
  return new PoproomError(code, `${why}. Try again in ${counted(retryAfter, 'second')}.`, { retryAfter, details });
}

const form = new RegExp(auth.pattern);

/** The SHA-256 of the key `auth` of an encrypted room. The server knows only this verifier. */
function hashAuth(text: string): Uint8Array {
  if (form.test(text)) return hash('sha256', Buffer.from(text, 'base64url'), 'buffer');
  throw invalidField('X-Room-Auth', 'X-Room-Auth must be 32 bytes in base64url.');
}

declare const checked: unique symbol;
/** Four ASCII digits. */
export type Pin = string & { readonly [checked]: true };

export function parsePin(text: string): Pin {
  if (/^[0-9]{4}$/.test(text)) return text as Pin;
  throw invalidField('pin', 'The PIN must be a string of exactly four digits, for example "0427".');
}

/**
 * Includes the room code, so that equal PINs of two rooms have different hashes. It uses the first six symbols, which
 * are the same before and after the store shortens the code of a new room.
 */
export function macPin(secret: string, codeOrDraw: string, pin: Pin): Uint8Array {
  return createHmac('sha256', secret)
    .update(`pin\n${codeOrDraw.slice(0, 6)}\n${pin}`)
    .digest();
}
