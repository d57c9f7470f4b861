/** Turns an error into an exit code and one sentence. */
import { type PoproomErrorCode, PoproomError as RemoteError } from '../client/index.ts';
import { ConfigError } from '../config.ts';
import { PoproomError as LocalError } from '../core/errors.ts';
import { ClipboardError } from './clipboard-error.ts';
import { formatBytes } from './counts.ts';
import { FileError } from './file-error.ts';
import { formatJson } from './output.ts';
import { printable } from './printable.ts';
import { UsageError } from './usage-error.ts';

export interface Failure {
  exitCode: number;
  /** Stable, for programs: an error code of the server or the SDK, or one of `localCodes`. */
  code: string;
  /** For people. Empty if nothing is to be printed. */
  message: string;
  /** The id of the request in the log of the server. */
  requestId?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
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
  [noAccess, 'PIN, room key or API key missing, wrong or locked'],
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
  KEY_MALFORMED: noAccess,
  KEY_MISTYPED: noAccess,
  NOT_ENCRYPTED: noAccess,
  API_KEY_REQUIRED: noAccess,
  INVALID_API_KEY: noAccess,
  INVALID_ADMIN_TOKEN: noAccess,
  ADDRESS_BLOCKED: noAccess,
  VERSION_CONFLICT: conflict,
  FILE_CLAIMED: conflict,
  CONTENT_TOO_LARGE: tooLarge,
  FILE_TOO_LARGE: tooLarge,
  ROOM_FULL: tooLarge,
  QUOTA_EXCEEDED: tooLarge,
  STORAGE_FULL: tooLarge,
  RATE_LIMITED: limited,
  OFFLINE: unreachable,
  TIMEOUT: unreachable,
  UNAVAILABLE: unreachable,
};

/** Codes of failures that are not from a server, with their meaning for the documentation. */
export const localCodes = {
  USAGE: 'incorrect usage',
  LOCAL_FILE: 'a local file or folder cannot be read or written',
  CLIPBOARD: 'the clipboard is missing or does not work',
  SETTINGS: 'the settings of the server are invalid',
  FAILED: 'any other failure',
} as const;

export function explain(error: unknown): Failure {
  if (error instanceof ExitError) return { exitCode: error.exitCode, code: 'FAILED', message: '' };
  if (error instanceof RemoteError) return explainRemote(error);
  if (error instanceof UsageError) return { exitCode: usage, code: 'USAGE', message: error.message };
  if (error instanceof FileError) return { exitCode: localFile, code: 'LOCAL_FILE', message: printable(error.message) };
  if (error instanceof ClipboardError) return { exitCode: other, code: 'CLIPBOARD', message: error.message };
  if (error instanceof LocalError) return { exitCode: other, code: error.code, message: error.message };
  if (error instanceof ConfigError) return { exitCode: usage, code: 'SETTINGS', message: describeSettings(error) };
  return explainSystemError(error as NodeJS.ErrnoException);
}

/** A sentence with the name of the command. */
export const formatFailure = ({ code, message }: Failure): string =>
  code === 'SETTINGS' ? message : `poproom: ${message}`;

/** One line of JSON, for `--json`. */
export const failureJson = ({ exitCode, code, message, requestId, details }: Failure): string =>
  formatJson({ error: { code, message, requestId, details, exitCode } });

function explainRemote(error: RemoteError): Failure {
  const message = withUnits(printable(error.message.slice(0, maxMessageLength)));
  const details = Object.keys(error.details).length > 0 ? error.details : undefined;
  return { exitCode: exitCodeOf(error), code: error.code, message, requestId: error.requestId, details };
}

/** Some limits of a server are in bytes: "1,048,576 bytes of UTF-8" becomes "1 MiB". */
const withUnits = (message: string) =>
  message.replaceAll(/(?<![\d,(])(\d{4,15}|\d{1,3}(?:,\d{3}){1,4}) bytes(?: of UTF-8)?/g, (_, bytes: string) =>
    formatBytes(Number(bytes.replaceAll(',', ''))),
  );

/** A `NOT_FOUND` that is not about a version means that the URL is not that of a Poproom server. */
function exitCodeOf({ code, details }: RemoteError): number {
  const isMissingVersion = code === 'NOT_FOUND' && details.field === 'version';
  const exitCode = Object.hasOwn(byCode, code) ? byCode[code] : undefined;
  return isMissingVersion ? missing : (exitCode ?? other);
}

function describeSettings({ problems }: ConfigError): string {
  return ['poproom cannot start with these settings:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

function explainSystemError({ code, message, path, stack }: NodeJS.ErrnoException): Failure {
  if (message === 'file is not a database') return failed(notDatabase);
  const sentence = code === undefined ? undefined : bySystemCode[code]?.(path ?? message);
  if (sentence === undefined) return failed(stack ?? message);
  return path === undefined ? failed(sentence) : { exitCode: localFile, code: 'LOCAL_FILE', message: sentence };
}

const failed = (message: string): Failure => ({ exitCode: other, code: 'FAILED', message });
const notDatabase = 'poproom.db in POPROOM_DATA_DIR is not a database; restore it from a backup.';

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
