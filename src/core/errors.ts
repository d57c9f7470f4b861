/** The error class of the service: a code for programs, a sentence for people. */
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { MissingReason } from './ports/basics.ts';

interface ErrorExtras {
  /** Data for programs. Sent to the client, so it must not contain secrets. */
  details?: Record<string, unknown>;
  /** Seconds to wait before the next attempt. */
  retryAfter?: number;
  /** The underlying error, for the log only. */
  cause?: unknown;
}

export class PoproomError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause });
    this.name = 'PoproomError';
    this.code = code;
    this.details = extras.details;
    this.retryAfter = extras.retryAfter;
  }
}

/** The error for a wrong value in a field or a header of a request. */
export const invalidField = (field: string, message: string, details: object = {}): PoproomError =>
  new PoproomError('VALIDATION_FAILED', message, { details: { field, ...details } });

/** For a server that is too busy or stops. */
export const unavailable = (message: string, retryAfter = 2): PoproomError =>
  new PoproomError('UNAVAILABLE', `${message} Try again in ${retryAfter} seconds.`, { retryAfter });

export const hasCode = (error: unknown, ...codes: ErrorCode[]): error is PoproomError =>
  error instanceof PoproomError && codes.includes(error.code);

/** `1 second`, `2 seconds`. */
export const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** `1 byte`, `2,000 bytes`. */
export const byteCount = (bytes: number): string =>
  `${bytes.toLocaleString('en-US')} ${bytes === 1 ? 'byte' : 'bytes'}`;

export function roomMissing(why: MissingReason): PoproomError {
  return why === 'expired'
    ? new PoproomError('ROOM_EXPIRED', 'This room has expired. Its text and files have been deleted.')
    : new PoproomError('ROOM_NOT_FOUND', 'There is no room with this code.');
}

/** Returns what a store has found, and throws if there is no such room. */
export function orMissing<T>(found: T | MissingReason): Exclude<T, MissingReason> {
  if (found === 'expired' || found === 'gone') throw roomMissing(found as MissingReason);
  return found as Exclude<T, MissingReason>;
}
