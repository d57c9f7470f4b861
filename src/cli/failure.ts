/** How a failure ends the command: an exit code by its kind, and one sentence. */
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

/** Thrown where all has been said. */
export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Of what a server says; a longer one would fill the screen. */
const longestSentence = 1000;

const other = 1;
const usage = 2;
export const missing = 3;
const noAccess = 4;
const conflict = 5;
const tooLarge = 6;
const limited = 7;
const unreachable = 8;
const localFile = 9;
export const interrupted = 130;

/** As the help shows them. */
export const exitCodes: readonly (readonly [code: number, means: string])[] = [
  [other, 'anything else'],
  [usage, 'wrong use'],
  [missing, 'no such room, file or version'],
  [noAccess, 'PIN or key missing, wrong or locked'],
  [conflict, 'changed meanwhile'],
  [tooLarge, 'too large or full'],
  [limited, 'too many requests'],
  [unreachable, 'server not to be reached'],
  [localFile, 'a file here cannot be read or written'],
  [interrupted, 'stopped by Ctrl-C'],
];

const byCode: Partial<Record<PoproomErrorCode, number>> = {
  ROOM_NOT_FOUND: missing,
  ROOM_EXPIRED: missing,
  FILE_NOT_FOUND: missing,
  PIN_REQUIRED: noAccess,
  PIN_INCORRECT: noAccess,
  PIN_LOCKED: noAccess,
  API_KEY_REQUIRED: noAccess,
  INVALID_API_KEY: noAccess,
  VERSION_CONFLICT: conflict,
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
  if (error instanceof Ended) return { exitCode: error.exitCode, sentence: '' };
  if (error instanceof RemoteError) {
    return { exitCode: exitCodeOf(error), sentence: say(printable(error.message.slice(0, longestSentence))) };
  }
  if (error instanceof UsageError) return { exitCode: usage, sentence: say(error.message) };
  if (error instanceof FileError) return { exitCode: localFile, sentence: say(printable(error.message)) };
  if (error instanceof ClipboardError) return { exitCode: other, sentence: say(error.message) };
  if (error instanceof LocalError) return { exitCode: other, sentence: say(error.message) };
  if (error instanceof ConfigError) return { exitCode: usage, sentence: aboutSettings(error) };
  return explainSystemError(error as NodeJS.ErrnoException);
}

/** `NOT_FOUND` of a whole path means that this is not the address of a server. */
function exitCodeOf({ code, details }: RemoteError): number {
  const isMissingVersion = code === 'NOT_FOUND' && details.field === 'version';
  const exitCode = Object.hasOwn(byCode, code) ? byCode[code] : undefined;
  return isMissingVersion ? missing : (exitCode ?? other);
}

const say = (sentence: string) => `poproom: ${sentence}`;

function aboutSettings({ problems }: ConfigError): string {
  return ['poproom cannot start with these settings:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

function explainSystemError({ code, message, path, stack }: NodeJS.ErrnoException): Failure {
  if (message === 'file is not a database')
    return { exitCode: other, sentence: say('poproom.db in POPROOM_DATA_DIR is not a database') };
  const sentence = code === undefined ? undefined : bySystemCode[code]?.(path ?? message);
  if (sentence === undefined) return { exitCode: other, sentence: say(stack ?? message) };
  return { exitCode: path === undefined ? other : localFile, sentence: say(sentence) };
}

const bySystemCode: Record<string, (what: string) => string> = {
  EADDRINUSE: () => 'the port is in use; choose another, such as PORT=8081',
  ENOTFOUND: () => 'POPROOM_HOST is no address of this machine',
  EADDRNOTAVAIL: () => 'POPROOM_HOST is no address of this machine',
  EACCES: (what) => `no permission (${what})`,
  EPERM: (what) => `no permission (${what})`,
  EROFS: (what) => `no permission (${what})`,
  ENOENT: (what) => `there is no ${what}`,
  EISDIR: (what) => `${what} is a folder`,
  EEXIST: mustBeFolder,
  ENOTDIR: mustBeFolder,
  ENOSPC: () => 'the disk is full',
};

/** Not every command has such a setting, and not every folder is that one. */
function mustBeFolder(what: string): string {
  return `${what} must be a folder; POPROOM_DATA_DIR names that of a server`;
}
