/** The one error class of the SDK: a code for programs, a sentence for people. */
import type { ErrorCode } from '../protocol/error-codes.ts';
import { largestFile } from '../protocol/largest-file.ts';
import type { ErrorBody } from '../protocol/types.ts';
import { retryAfterIn } from './retry-after.ts';

/** What the server says, and `OFFLINE` for when it cannot be reached. */
export type PoproomErrorCode = ErrorCode | 'OFFLINE';

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
  try {
    const { error } = JSON.parse(text) as ErrorBody;
    const { code, message, details = {} } = error;
    const isOwn = typeof code === 'string' && typeof message === 'string' && isObject(details);
    return isOwn ? error : undefined;
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Something on the way answered in the server's place. */
export function notItsOwn(status: number, extras: PoproomErrorExtras = {}): PoproomError {
  const code = status === 429 ? 'RATE_LIMITED' : status >= 500 ? 'UNAVAILABLE' : 'INTERNAL';
  const details = { status };
  return new PoproomError(code, `The server answered ${status} in a way that is not its own.`, { details, ...extras });
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
  return typeof seconds === 'number' ? seconds : undefined;
}
