/** The one error class of the service: a code for programs, a sentence for people. */
import type { ErrorCode } from '../protocol/error-codes.ts';

export interface ErrorExtras {
  /** What a program can act on; shown to the client, so never a secret. */
  details?: Record<string, unknown>;
  /** Seconds until it is worth trying again. */
  retryAfter?: number;
  /** What really happened; for the log only. */
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

/** Whole seconds from now to a moment, never less than one: a Retry-After of 0 invites a busy loop. */
export function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000));
}
