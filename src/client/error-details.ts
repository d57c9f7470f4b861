/** The details of errors by their code. Older servers omit optional ones. `shapes.ts` checks them. */

/** Every error may have further details. */
export type DetailsOf<Code extends string> = Code extends keyof ErrorDetails
  ? Details & Readonly<ErrorDetails[Code]>
  : Details;

type Details = Readonly<Record<string, unknown>>;

/** The current text of a room, because of which a write was refused. */
export interface ConflictDetails {
  version: number;
  /** Undefined if the edits were based on a version that is not in the log, and for long texts on a live channel. */
  content?: string;
  timestamp?: string;
}

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
