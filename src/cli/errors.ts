/** How a command ends: its exit codes, its errors for the user, and signals that interrupt it. */
import { constants } from 'node:os';

const exits = {
  other: [1, 'any error that is not listed below'],
  usage: [2, 'incorrect usage'],
  missing: [3, 'no such room, link, webhook, file or version'],
  noAccess: [4, 'PIN, room key or API key missing, wrong or locked; or a link that may not do this'],
  conflict: [5, 'changed or being received by someone else'],
  tooLarge: [6, 'too large, or storage full'],
  limited: [7, 'too many requests'],
  unreachable: [8, 'server unreachable'],
  localFile: [9, 'local file cannot be read or written'],
  interrupted: [130, 'interrupted by Ctrl-C'],
} as const;

/** With their meanings, for the help. */
export const exitCodes: readonly (readonly [code: number, means: string])[] = Object.values(exits);

export type Exit = keyof typeof exits;

export const exitCode = Object.fromEntries(Object.entries(exits).map(([name, [code]]) => [name, code])) as Readonly<
  Record<Exit, number>
>;

/** Ends the command without a further message. */
export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** The messages of these errors say what is wrong, such as which file, and why or what to do. */
export class UsageError extends Error {}
export class ClipboardError extends Error {}
export class FileError extends Error {}

/** Turns system errors about the path into a FileError. */
export async function withFileErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = fileMessages[(error as NodeJS.ErrnoException).code ?? ''];
    throw message ? new FileError(message(path)) : error;
  }
}

export const alreadyExists = (path: string): string =>
  `${path} already exists; use --force to overwrite it, or --existing skip or rename.`;

const noPermission = (path: string) => `Permission denied: ${path}`;
const noSpace = (path: string) => `The disk is full; ${path} was not written.`;

type FileMessages = Readonly<Record<string, (path: string) => string>>;

/** The same for the files of a server. */
export const commonFileMessages: FileMessages = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: noPermission,
  ENOENT: (path) => `${path} does not exist.`,
  EISDIR: (path) => `${path} is a folder.`,
};

const fileMessages: FileMessages = {
  ...commonFileMessages,
  ENOTDIR: (path) => `${path} is not a folder, or is not inside a folder.`,
  EEXIST: alreadyExists,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EFBIG: noSpace,
  EIO: (path) => `The disk reported an error for ${path}.`,
  ENAMETOOLONG: (path) => `The name ${path} is too long for this disk.`,
  ELOOP: (path) => `${path} is a symbolic link that leads to itself.`,
  EMFILE: (path) => `Cannot open ${path}: too many open files.`,
};

/** One Ctrl-C may arrive twice, from the terminal and from a parent such as npx. A later one is a second Ctrl-C. */
const repeatAfterMs = 1000;

/** SIGHUP: the terminal was closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof stopSignals)[number];

/** Returns a function that stops listening. */
export function onStopSignals(onFirst: (signal: StopSignal) => void, onRepeated: (signal: StopSignal) => void) {
  let firstAt: number | undefined;
  const onSignal = (signal: StopSignal) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      onFirst(signal);
    } else if (performance.now() - firstAt > repeatAfterMs) onRepeated(signal);
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  return () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
}

/** Exits with 128 and the number of the signal: 130 for Ctrl-C. A second signal exits immediately. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const codeOf = (signal: StopSignal) => 128 + constants.signals[signal];
  const stopListening = onStopSignals(
    (signal) => stopping.abort(new ExitError(codeOf(signal))),
    (signal) => process.exit(codeOf(signal)),
  );
  try {
    const result = await work(stopping.signal);
    stopping.signal.throwIfAborted();
    return result;
  } catch (error) {
    // Errors that the interruption caused are not reported.
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    stopListening();
  }
}

/** For commands that Ctrl-C ends. */
export function ignoreExit(error: unknown): void {
  if (!(error instanceof ExitError)) throw error;
}
