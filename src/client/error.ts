/** The error class of the SDK, and its causes. */
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { ErrorBody } from '../protocol/types.ts';
import { isError, isObject, parseJson } from './shapes.ts';

/**
 * An error code of the server, or one of the SDK: `OFFLINE` if the server cannot be reached, `TIMEOUT` if it does not
 * respond in time, `INVALID_RESPONSE` if the response is not that of a Poproom server or is a redirect to another one.
 */
export type PoproomErrorCode = ErrorCode | EncryptionErrorCode | 'OFFLINE' | 'TIMEOUT' | 'INVALID_RESPONSE';

export type EncryptionErrorCode =
  | 'KEY_MALFORMED' // A string that cannot be a room key.
  | 'KEY_MISTYPED' // A room key whose check symbol is wrong.
  | 'KEY_WRONG' // The part of a link after `#` is missing or incomplete.
  | 'NOT_ENCRYPTED' // The caller has a room key, but the server says that the room is not encrypted.
  | 'DATA_DAMAGED' // The data was changed, cut or moved, or was sealed with another key.
  | 'ROLLBACK' // The server sent an older version than this device has seen.
  | 'FORK' // The server sent a version that does not continue the one this device has seen.
  | 'FILE_CHANGED' // A file was changed during its upload, which must start again.
  | 'ZIP_UNAVAILABLE'; // The server cannot make a zip archive of encrypted files.

interface PoproomErrorExtras {
  details?: Details | undefined;
  /** Seconds until the next attempt makes sense. */
  retryAfter?: number | undefined;
  requestId?: string | undefined;
  status?: number | undefined;
  cause?: unknown;
}

class ErrorWithCode extends Error {
  readonly code: PoproomErrorCode;
  /** Depends on the code; see the API documentation. */
  readonly details: Details;
  /** Seconds until the next attempt makes sense. Undefined if waiting does not help, or the time is unknown. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the log of the server. Undefined if the error is not from the server. */
  readonly requestId: string | undefined;
  /** The HTTP status of the response. Undefined if there was none, and for errors of a live channel. */
  readonly status: number | undefined;

  constructor(code: PoproomErrorCode, message: string, extras: PoproomErrorExtras = {}) {
    const { details = {}, retryAfter, requestId, status, cause } = extras;
    super(message, { cause });
    this.name = 'PoproomError';
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter ?? secondsIn(details);
    this.requestId = requestId;
    this.status = status;
  }
}

/**
 * The error of every failed request: `code` is for programs, `message` for people. A comparison of `code` also tells the
 * compiler which `details` there are.
 */
export type PoproomError<Code extends PoproomErrorCode = PoproomErrorCode> = Code extends PoproomErrorCode
  ? ErrorOf<Code>
  : never;

interface ErrorOf<Code extends PoproomErrorCode> extends ErrorWithCode {
  readonly code: Code;
  readonly details: DetailsOf<Code>;
}

export const PoproomError = ErrorWithCode as unknown as {
  new (code: PoproomErrorCode, message: string, extras?: PoproomErrorExtras): PoproomError;
  [Symbol.hasInstance](value: unknown): value is PoproomError;
};

/** An error of an encrypted room. It contains neither a key nor decrypted data. */
export class EncryptionError extends ErrorWithCode {
  declare readonly code: EncryptionErrorCode;

  constructor(code: EncryptionErrorCode, message: string) {
    super(code, message);
    this.name = 'EncryptionError';
  }
}

/** Creates the error for an unsuccessful response. */
export function errorFrom(status: number, text: string, header: (name: string) => string | null): PoproomError {
  const extras = { retryAfter: parseRetryAfter(header), requestId: header('X-Request-Id') ?? undefined, status };
  const body = parseJson(text);
  const error = isObject(body) && (body as Partial<ErrorBody>).error;
  // Proxies have their own errors, some of them in JSON.
  if (!isError(error)) return unexpectedResponse(status, extras);
  return new PoproomError(error.code as ErrorCode, error.message, { ...extras, details: error.details });
}

/** The response is from something else, such as a proxy. */
export function unexpectedResponse(status: number, extras: PoproomErrorExtras = {}): PoproomError {
  const code = status === 429 ? 'RATE_LIMITED' : status >= 500 ? 'UNAVAILABLE' : 'INVALID_RESPONSE';
  const message = `Unexpected response with status ${status}: it is not from a Poproom server.`;
  return new PoproomError(code, message, { details: { status }, status, ...extras });
}

/** The server violated the protocol; `what` completes the message. */
export const invalidMessage = (what: string, cause?: unknown): PoproomError =>
  new PoproomError('INVALID_RESPONSE', `The server sent ${what}.`, { cause });

export function versionConflict(details: ConflictDetails): PoproomError {
  const message = 'Someone else has changed the text. Nothing was overwritten.';
  return new PoproomError('VERSION_CONFLICT', message, { details: { ...details } });
}

/** Not followed: the PIN and the key must stay with the server, and the target may be in the local network. */
export function redirectError(status: number, target: URL | undefined): PoproomError {
  const where = target ? `${target.origin}; if you trust that server, use its URL instead` : 'another server';
  const details = { status, location: target?.origin };
  return new PoproomError('INVALID_RESPONSE', `The server redirects to ${where}.`, { details, status });
}

/** Names only the origin of the URL: a path may contain a room code, and a query a PIN. */
export function offlineError(cause?: unknown, url?: string): PoproomError {
  const server = url === undefined ? 'The server' : `The server at ${new URL(url).origin}`;
  return new PoproomError('OFFLINE', `${server} cannot be reached.`, { cause });
}

/** The error of a request that failed without a response: a bug or a missing feature of the runtime stays as it is. */
export const connectionError = (cause: unknown, url?: string): unknown =>
  cause instanceof PoproomError || isBug(cause) ? cause : offlineError(cause, url);

/** A failed connection is a TypeError in every runtime, too, so its message must tell. */
function isBug(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError) return true;
  return error instanceof TypeError && error.cause === undefined && bugs.test(error.message);
}

const bugs = /is not (?:a function|a constructor|defined|iterable)|^Cannot |undefined|null|invalid|ByteString|duplex/i;

/** All other errors of a request mean that the connection failed. */
export const toPoproomError = (cause: unknown): PoproomError =>
  cause instanceof PoproomError ? cause : offlineError(cause);

function secondsIn({ retryAfter, lockedFor }: Details): number | undefined {
  const seconds = retryAfter ?? lockedFor;
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined;
}

/** Parses `Retry-After`, in seconds or as a date, to seconds from now. Returns undefined if it is missing or invalid. */
function parseRetryAfter(header: (name: string) => string | null): number | undefined {
  const value = header('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  // Every HTTP date ends with GMT. Date.parse also accepts strings that are not HTTP dates.
  const at = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  // Relative to the server's clock if known, because the two clocks may differ.
  const now = Date.parse(header('Date') ?? '') || Date.now();
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}

type Details = Readonly<Record<string, unknown>>;

/** Every error may have further details. */
type DetailsOf<Code> = Code extends keyof ErrorDetails ? Details & Readonly<ErrorDetails[Code]> : Details;

/** The current text of a room, because of which a write was refused. */
export interface ConflictDetails {
  version: number;
  /** Undefined if the edits were based on a version that is not in the log, and for long texts on a live channel. */
  content?: string;
  timestamp?: string;
}

/** By error code. Older servers omit optional ones. `shapes.ts` checks them. */
export interface ErrorDetails {
  VERSION_CONFLICT: ConflictDetails;
  EDIT_CONFLICT: { version: number; timestamp?: string };
  UPLOAD_CONFLICT: { offset: number };
  VALIDATION_FAILED: InvalidField;
  ENCRYPTION_REQUIRED: InvalidField;
  ORIGIN_NOT_ALLOWED: InvalidField;
  PIN_INCORRECT: WrongProof;
  KEY_INCORRECT: WrongProof;
  PIN_LOCKED: Delay;
  KEY_LOCKED: Delay;
  FILE_CLAIMED: Delay;
  /** `reason`: which limit was reached, such as `requests` or `messages`; `limit`: the requests per hour. */
  RATE_LIMITED: Delay & { reason?: string; limit?: number };
  CONTENT_TOO_LARGE: { maximum?: number };
  FILE_TOO_LARGE: { maximum?: number };
  ROOM_FULL: { maximumFiles?: number; maximumBytes?: number };
  QUOTA_EXCEEDED: { scope?: string; used?: number; maximum?: number; freesAt?: string };
  INVALID_RESPONSE: { status?: number; location?: string };
}

interface InvalidField {
  /** The name of the field, parameter or header. */
  field?: string;
}

interface WrongProof {
  triesLeft?: number;
  /** In seconds. */
  lockedFor?: number;
}

interface Delay {
  /** In seconds. */
  retryAfter?: number;
}
