/** Turns an error into an exit code and one sentence. */
import { type PoproomErrorCode, PoproomError as RemoteError } from '../client/index.ts';
import { ConfigError } from '../config.ts';
import { PoproomError as LocalError } from '../core/errors.ts';
import { ClipboardError } from './clipboard-error.ts';
import { FileError } from './file-error.ts';
import { printable } from './printable.ts';
import { UsageError } from './usage-error.ts';

export interface Failure {
  exitCode: number;
  sentence: string;
}

/** Ends the command without a further message. */
export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** A longer message from a server would fill the screen. */
const maxMessageLength = 1000;

const other = 1;
const usage = 2;
export const missing = 3;
const noAccess = 4;
const conflict = 5;
const tooLarge = 6;
const limited = 7;
export const unreachable = 8;
const localFile = 9;
export const interrupted = 130;

/** Shown in the help. */
export const exitCodes: readonly (readonly [code: number, means: string])[] = [
  [other, 'any error that is not listed below'],
  [usage, 'incorrect usage'],
  [missing, 'no such room, file or version'],
  [noAccess, 'PIN or API key missing, wrong or locked'],
  [conflict, 'changed or being received by someone else'],
  [tooLarge, 'too large, or storage full'],
  [limited, 'too many requests'],
  [unreachable, 'server unreachable'],
  [localFile, 'local file cannot be read or written'],
  [interrupted, 'interrupted by Ctrl-C'],
];

const byCode: Partial<Record<PoproomErrorCode, number>> = {
  ROOM_NOT_FOUND: missing,
  ROOM_EXPIRED: missing,
  FILE_NOT_FOUND: missing,
  CLAIM_NOT_FOUND: missing,
  PIN_REQUIRED: noAccess,
  PIN_INCORRECT: noAccess,
  PIN_LOCKED: noAccess,
  KEY_REQUIRED: noAccess,
  KEY_INCORRECT: noAccess,
  KEY_LOCKED: noAccess,
  API_KEY_REQUIRED: noAccess,
  INVALID_API_KEY: noAccess,
  VERSION_CONFLICT: conflict,
  FILE_CLAIMED: conflict,
  CONTENT_TOO_LARGE: tooLarge,
  FILE_TOO_LARGE: tooLarge,
  ROOM_FULL: tooLarge,
  QUOTA_EXCEEDED: tooLarge,
  STORAGE_FULL: tooLarge,
  RATE_LIMITED: limited,
  OFFLINE: unreachable,
  UNAVAILABLE: unreachable,
};

export function explain(error: unknown): Failure {
  if (error instanceof ExitError) return { exitCode: error.exitCode, sentence: '' };
  if (error instanceof RemoteError) {
    return { exitCode: exitCodeOf(error), sentence: prefixed(printable(error.message.slice(0, maxMessageLength))) };
  }
  if (error instanceof UsageError) return { exitCode: usage, sentence: prefixed(error.message) };
  if (error instanceof FileError) return { exitCode: localFile, sentence: prefixed(printable(error.message)) };
  if (error instanceof ClipboardError) return { exitCode: other, sentence: prefixed(error.message) };
  if (error instanceof LocalError) return { exitCode: other, sentence: prefixed(error.message) };
  if (error instanceof ConfigError) return { exitCode: usage, sentence: describeSettings(error) };
  return explainSystemError(error as NodeJS.ErrnoException);
}

/** A `NOT_FOUND` that is not about a version means that the URL is not that of a Poproom server. */
function exitCodeOf({ code, details }: RemoteError): number {
  const isMissingVersion = code === 'NOT_FOUND' && details.field === 'version';
  const exitCode = Object.hasOwn(byCode, code) ? byCode[code] : undefined;
  return isMissingVersion ? missing : (exitCode ?? other);
}

const prefixed = (sentence: string) => `poproom: ${sentence}`;

function describeSettings({ problems }: ConfigError): string {
  return ['poproom cannot start with these settings:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

function explainSystemError({ code, message, path, stack }: NodeJS.ErrnoException): Failure {
  if (message === 'file is not a database')
    return {
      exitCode: other,
      sentence: prefixed('poproom.db in POPROOM_DATA_DIR is not a database; restore it from a backup.'),
    };
  const sentence = code === undefined ? undefined : bySystemCode[code]?.(path ?? message);
  if (sentence === undefined) return { exitCode: other, sentence: prefixed(stack ?? message) };
  return { exitCode: path === undefined ? other : localFile, sentence: prefixed(sentence) };
}

const bySystemCode: Record<string, (what: string) => string> = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: noPermission,
  ENOENT: (what) => `${what} does not exist.`,
  EISDIR: (what) => `${what} is a folder.`,
  EEXIST: mustBeFolder,
  ENOTDIR: mustBeFolder,
  ENOSPC: () => 'The disk is full.',
};

function noPermission(what: string): string {
  return `Permission denied: ${what}`;
}

/** The path is not always the data folder, and not every command uses one. */
function mustBeFolder(what: string): string {
  return `${what} must be a folder; a server uses the one in POPROOM_DATA_DIR.`;
}
