/** Turns an error into an exit code and one sentence. */
import { type PoproomErrorCode, PoproomError as RemoteError } from '../client/index.ts';
import { ConfigError } from '../config.ts';
import { PoproomError as LocalError } from '../core/errors.ts';
import { ClipboardError, commonFileMessages, type Exit, ExitError, exitCode, FileError, UsageError } from './errors.ts';
import { formatBytes, formatJson, printable } from './output.ts';

interface Failure {
  exitCode: number;
  /** Stable, for programs: an error code of the server or the SDK, or one of `localCodes`. */
  code: string;
  /** For people. Empty if nothing is to be printed. */
  message: string;
  /** The id of the request in the log of the server. */
  requestId?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
}

/** A longer message from a server would fill the screen. */
const maxMessageLength = 1000;

const codesByExit: Partial<Record<Exit, readonly PoproomErrorCode[]>> = {
  missing: ['ROOM_NOT_FOUND', 'ROOM_EXPIRED', 'FILE_NOT_FOUND', 'CLAIM_NOT_FOUND'],
  noAccess: [
    ...(['PIN_REQUIRED', 'PIN_INCORRECT', 'PIN_LOCKED'] as const),
    ...(['KEY_REQUIRED', 'KEY_INCORRECT', 'KEY_LOCKED', 'KEY_MALFORMED', 'KEY_MISTYPED', 'KEY_WRONG'] as const),
    ...(['NOT_ENCRYPTED', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'PASSWORD_REQUIRED', 'PASSWORD_INCORRECT'] as const),
    ...(['SIGN_IN_REQUIRED', 'READ_ONLY', 'DROP_ONLY', 'INVALID_ADMIN_TOKEN', 'ADDRESS_BLOCKED'] as const),
  ],
  conflict: ['VERSION_CONFLICT', 'FILE_CLAIMED'],
  tooLarge: ['CONTENT_TOO_LARGE', 'FILE_TOO_LARGE', 'ROOM_FULL', 'QUOTA_EXCEEDED', 'STORAGE_FULL'],
  limited: ['RATE_LIMITED'],
  unreachable: ['OFFLINE', 'TIMEOUT', 'UNAVAILABLE'],
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
  // A command failed, and then the closing of what it used.
  if (error instanceof SuppressedError) return explain(error.suppressed);
  if (error instanceof ExitError) return { exitCode: error.exitCode, code: 'FAILED', message: '' };
  if (error instanceof RemoteError) return explainRemote(error);
  if (error instanceof UsageError) return failure('usage', 'USAGE', error.message);
  if (error instanceof FileError) return failure('localFile', 'LOCAL_FILE', printable(error.message));
  if (error instanceof ClipboardError) return failure('other', 'CLIPBOARD', error.message);
  if (error instanceof LocalError) return failure('other', error.code, error.message);
  if (error instanceof ConfigError) return failure('usage', 'SETTINGS', describeSettings(error));
  return explainSystemError(error as NodeJS.ErrnoException);
}

const failure = (exit: Exit, code: string, message: string): Failure => ({ exitCode: exitCode[exit], code, message });

/** A sentence with the name of the command. */
export const formatFailure = ({ code, message }: Failure): string =>
  code === 'SETTINGS' ? message : `poproom: ${message}`;

/** One line of JSON, for `--json`. */
export const failureJson = ({ code, message, requestId, details, exitCode }: Failure): string =>
  formatJson({ error: { code, message, requestId, details, exitCode } });

function explainRemote(error: RemoteError): Failure {
  const message = hints[error.code] ?? withUnits(printable(error.message.slice(0, maxMessageLength)));
  const details = Object.keys(error.details).length > 0 ? error.details : undefined;
  return { exitCode: exitCodeOf(error), code: error.code, message, requestId: error.requestId, details };
}

/** The messages of the server name headers, which the command sends itself. */
const hints: Partial<Record<PoproomErrorCode, string>> = {
  API_KEY_REQUIRED: 'This server requires an API key; set POPROOM_API_KEY, or run poproom config set api-key.',
  PASSWORD_REQUIRED:
    'This server requires a password for creating rooms; set POPROOM_CREATE_PASSWORD, or run poproom config set create-password.',
  SIGN_IN_REQUIRED:
    'Only users who have signed in may create rooms on this server; create the room in a browser, or set POPROOM_API_KEY.',
  READ_ONLY:
    'This link can only read the text and the files of the room; for anything else, ask a member for the room code.',
  DROP_ONLY:
    'This link can only add files: use poproom send LINK FILE, or poproom send LINK --note TEXT. To read the room, ask a member for another link.',
  TOO_MANY_REPORTS: 'The operator has too many open reports; contact the operator directly.',
  TOO_MANY_LINKS: 'This room has reached its limit of links; revoke one with poproom unlink.',
};

/** Some limits of a server are in bytes: "1,048,576 bytes of UTF-8" becomes "1 MiB". */
const withUnits = (message: string) =>
  message.replaceAll(/(?<![\d,(])(\d{4,15}|\d{1,3}(?:,\d{3}){1,4}) bytes(?: of UTF-8)?/g, (_, bytes: string) =>
    formatBytes(Number(bytes.replaceAll(',', ''))),
  );

/** A `NOT_FOUND` without a field means that the URL is not that of a Poproom server. */
function exitCodeOf({ code, details }: RemoteError): number {
  const isMissingPart = code === 'NOT_FOUND' && ['version', 'linkId', 'webhookId'].includes(String(details.field));
  const exits = Object.keys(codesByExit) as Exit[];
  const exit = exits.find((name) => codesByExit[name]?.includes(code)) ?? 'other';
  return exitCode[isMissingPart ? 'missing' : exit];
}

const describeSettings = ({ problems }: ConfigError): string =>
  ['poproom cannot start with these settings:', ...problems.map((problem) => `  ${problem}`)].join('\n');

function explainSystemError({ code, message, path, stack }: NodeJS.ErrnoException): Failure {
  if (message === 'file is not a database') return failure('other', 'FAILED', notDatabase);
  const sentence = bySystemCode[code ?? '']?.(path ?? message);
  return sentence !== undefined && path !== undefined
    ? failure('localFile', 'LOCAL_FILE', sentence)
    : failure('other', 'FAILED', sentence ?? stack ?? message);
}

const notDatabase = 'poproom.db in POPROOM_DATA_DIR is not a database; restore it from a backup.';

/** The path is not always the data folder, and not every command uses one. */
const mustBeFolder = (what: string): string => `${what} must be a folder; a server uses the one in POPROOM_DATA_DIR.`;

const bySystemCode: typeof commonFileMessages = {
  ...commonFileMessages,
  EEXIST: mustBeFolder,
  ENOTDIR: mustBeFolder,
  ENOSPC: () => 'The disk is full.',
};
