/** The one error class of the SDK: a code for programs, a sentence for people. */
import type { ErrorCode } from '../protocol/error-codes.ts';
import { largestFile } from '../protocol/largest-file.ts';
import type { ErrorBody } from '../protocol/types.ts';
import { parseJson } from './json.ts';
import { retryAfterIn } from './retry-after.ts';
import { isError, isObject } from './shapes.ts';

/**
 * What the server says; `OFFLINE` where it cannot be reached; `INVALID_RESPONSE` where the answer is not one of a
 * Poproom server, or leads elsewhere.
 */
export type PoproomErrorCode = ErrorCode | 'OFFLINE' | 'INVALID_RESPONSE';

export interface PoproomErrorExtras {
  details?: Readonly<Record<string, unknown>> | undefined;
  /** Seconds until it is worth trying again. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

export class PoproomError extends Error {
  readonly code: PoproomErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfter: number | undefined;

  constructor(code: PoproomErrorCode, message: string, { details = {}, retryAfter, cause }: PoproomErrorExtras = {}) {
    super(message, { cause });
    this.name = 'PoproomError';
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter ?? secondsIn(details);
  }
}

/** Of a response that is not a success. */
export function errorFrom(status: number, text: string, header: (name: string) => string | null): PoproomError {
  const extras = { retryAfter: retryAfterIn(header) };
  const said = errorIn(text);
  if (!said) return notItsOwn(status, extras);
  return new PoproomError(said.code as ErrorCode, said.message, { ...extras, details: said.details });
}

/** Undefined where it is not as the server says it: proxies have errors of their own, some in JSON too. */
function errorIn(text: string): ErrorBody['error'] | undefined {
  const body = parseJson(text);
  const error = isObject(body) && (body as Partial<ErrorBody>).error;
  return isError(error) ? error : undefined;
}

/** Something on the way answered in the server's place. */
export function notItsOwn(status: number, extras: PoproomErrorExtras = {}): PoproomError {
  const code = status === 429 ? 'RATE_LIMITED' : status >= 500 ? 'UNAVAILABLE' : 'INVALID_RESPONSE';
  const details = { status };
  return new PoproomError(code, `The server answered ${status} in a way that is not its own.`, { details, ...extras });
}

/** A message that the protocol does not have; `what` says which. */
export function invalidMessage(what: string, cause?: unknown): PoproomError {
  return new PoproomError('INVALID_RESPONSE', `The server sent ${what}.`, { cause });
}

/** The PIN and the key must not go elsewhere, and who follows may be led into the network of this device. */
export function redirected(status: number, target: URL | undefined): PoproomError {
  const where = target ? `${target.origin}; if you trust that address, use it instead` : 'another address';
  const details = { status, location: target?.origin };
  return new PoproomError('INVALID_RESPONSE', `The server redirects to ${where}.`, { details });
}

export function unreachable(cause?: unknown): PoproomError {
  return new PoproomError('OFFLINE', 'The server cannot be reached.', { cause });
}

/** As the server would say, without sending it everything first. */
export function tooLarge(): PoproomError {
  return new PoproomError('FILE_TOO_LARGE', `A file may be at most 10 MB (${largestFile} bytes).`, {
    details: { maximum: largestFile },
  });
}

function secondsIn({ retryAfter, lockedFor }: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = retryAfter ?? lockedFor;
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined;
}
