/** Access control of rooms: every operation on a room starts here. */

import { parseRoomCode } from '../protocol/room-code.ts';
import type { CoreDeps } from './deps.ts';
import { PoproomError, secondsUntil } from './errors.ts';
import { chain } from './maybe-promise.ts';
import { macPin, parsePin } from './pin.ts';
import type { AccessAttempt, ClientId, Content, MaybePromise, MissingReason, Refusal, Room } from './ports.ts';

/** A request to a room, with unchecked input. */
export interface Caller {
  client: ClientId;
  /** Whether a page of another site sent it. */
  isCrossSite?: boolean;
  roomId: string;
  pin: string | undefined;
  deviceId: string | undefined;
}

export async function admit(parts: CoreDeps, caller: Caller): Promise<Room> {
  const attempt = toAttempt(parts, caller);
  const admitting = parts.rooms.admit(attempt);
  const admission = admitting instanceof Promise ? await admitting : admitting;
  return admission.outcome === 'admitted' ? admission.room : reject(parts, attempt, admission);
}

/** Checks access and reads the text, in one step of the store. */
export function admitToRead(parts: CoreDeps, caller: Caller): MaybePromise<Content> {
  const attempt = toAttempt(parts, caller);
  return chain(
    parts.rooms.read(attempt),
    (admission): MaybePromise<Content> =>
      admission.outcome === 'admitted' ? admission.content : reject(parts, attempt, admission),
  );
}

async function reject(parts: CoreDeps, attempt: AccessAttempt, admission: Refusal): Promise<never> {
  // The attempt is counted already. If the members cannot be notified, the response stays the same.
  if (admission.outcome === 'pin-incorrect') await notifyMembers(parts, attempt).catch(() => undefined);
  throw refusal(admission, attempt.now);
}

/** Shows the members of the room that someone sent a wrong PIN. The guards limit how often this happens. */
async function notifyMembers({ rooms, bus }: CoreDeps, { code, now }: AccessAttempt): Promise<void> {
  const noted = code && (await rooms.notePinAttempt(code, now));
  if (noted) bus.publish(code, { seq: noted.seq });
}

function toAttempt({ clock, secret }: CoreDeps, caller: Caller): AccessAttempt {
  const code = parseRoomCode(caller.roomId);
  const pin = caller.pin === undefined ? undefined : parsePin(caller.pin);
  return {
    code,
    client: caller.client,
    isCrossSite: caller.isCrossSite ?? false,
    pinMac: code && pin && macPin(secret, code, pin),
    deviceId: caller.deviceId === undefined ? undefined : checkDeviceId(caller.deviceId),
    now: clock(),
  };
}

export function checkDeviceId(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new PoproomError('VALIDATION_FAILED', 'X-Device-Id must be 1 to 64 letters, digits, dashes or underscores.', {
    details: { field: 'X-Device-Id' },
  });
}

function refusal(admission: Refusal, now: number): PoproomError {
  switch (admission.outcome) {
    case 'unknown':
      return roomMissing('gone');
    case 'expired':
      return roomMissing('expired');
    case 'pin-required':
      return new PoproomError('PIN_REQUIRED', 'This room requires a PIN. Over HTTP, send it in the header X-Room-Pin.');
    case 'pin-incorrect':
      return wrongPin(admission.triesLeft, admission.lockedUntil, now);
    case 'pin-locked':
      return admission.isForLife
        ? lockedForLife(admission.until, now)
        : lockedOut('PIN_LOCKED', 'Too many wrong PINs for this room', admission.until, now);
    case 'too-many-misses':
      return lockedOut('RATE_LIMITED', 'Too many unknown room codes or wrong PINs', admission.until, now);
  }
}

export function roomMissing(why: MissingReason): PoproomError {
  return why === 'expired'
    ? new PoproomError('ROOM_EXPIRED', 'This room has expired. Its text and files have been deleted.')
    : new PoproomError('ROOM_NOT_FOUND', 'There is no room with this code.');
}

function wrongPin(triesLeft: number, lockedUntil: number | undefined, now: number): PoproomError {
  if (lockedUntil === undefined) {
    return new PoproomError('PIN_INCORRECT', `Wrong PIN. ${tries(triesLeft)} left.`, {
      details: { triesLeft },
    });
  }
  const lockedFor = secondsUntil(lockedUntil, now);
  return new PoproomError('PIN_INCORRECT', `Wrong PIN. Try again in ${seconds(lockedFor)}.`, {
    details: { triesLeft, lockedFor },
  });
}

function lockedOut(code: 'PIN_LOCKED' | 'RATE_LIMITED', reason: string, until: number, now: number): PoproomError {
  const retryAfter = secondsUntil(until, now);
  return new PoproomError(code, `${reason}. Try again in ${seconds(retryAfter)}.`, {
    retryAfter,
    details: code === 'RATE_LIMITED' ? { reason: 'misses', retryAfter } : { retryAfter },
  });
}

/** For clients that never gave the correct PIN. */
function lockedForLife(until: number, now: number): PoproomError {
  const retryAfter = Math.min(secondsUntil(until, now), 3600);
  const message = 'Too many wrong PINs for this room. New devices can join again after someone in it changes the PIN.';
  return new PoproomError('PIN_LOCKED', message, { retryAfter, details: { retryAfter } });
}

const tries = (n: number) => (n === 1 ? '1 try' : `${n} tries`);
const seconds = (n: number) => (n === 1 ? '1 second' : `${n} seconds`);
