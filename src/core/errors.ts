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

export function hasCode(error: unknown, ...codes: ErrorCode[]): error is PoproomError {
  return error instanceof PoproomError && codes.includes(error.code);
}

/** `1 byte`, `2 bytes`. */
export const byteCount = (bytes: number): string =>
  `${bytes.toLocaleString('en-US')} ${bytes === 1 ? 'byte' : 'bytes'}`;

export function roomMissing(why: MissingReason): PoproomError {
  return why === 'expired'
    ? new PoproomError('ROOM_EXPIRED', 'This room has expired. Its text and files have been deleted.')
    : new PoproomError('ROOM_NOT_FOUND', 'There is no room with this code.');
}
