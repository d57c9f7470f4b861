/** `poproom watch`: prints the text of a room whenever it changes, or runs a command on it. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import {
  createSharedText,
  type Ended,
  type FileEntry,
  type LiveEvent,
  PoproomError,
  parseLinkId,
  type Room,
  type SharedText,
} from '../../client/index.ts';
import type { Input } from '../command.ts';
import { environmentWith, readEnvironment } from '../environment.ts';
import { ExitError, UsageError, untilInterrupted } from '../errors.ts';
import { formatJson, print, printable, printableText, printNotice } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './room-files.ts';

type Watch = { input: Input; room: Room; text: SharedText; signal: AbortSignal };

export async function watch(input: Input): Promise<void> {
  const command = input.value('exec');
  if (command?.trim() === '') throw new UsageError('Which command? Give one after --exec.');
  if (command !== undefined && input.isSet('files')) throw new UsageError('Use either --files or --exec.');
  await withRoom(input, (room) =>
    untilInterrupted(async (signal) => {
      if (input.isSet('files')) return watchFiles(input, room, signal);
      const watching = { input, room, text: createSharedText(), signal };
      if (input.isSet('once')) return waitForChange(watching);
      printEnd(await (command ? runOnEach(watching) : printEach(watching)));
    }),
  );
}

/** `--files`: prints each file that is added or removed, also while the connection was lost. */
async function watchFiles(input: Input, room: Room, signal: AbortSignal): Promise<void> {
  const noteConnection = createConnectionNotices();
  const unread = new AbortController();
  process.stdout.once('error', () => unread.abort());
  let known: Map<string, FileEntry> | undefined;
  let isDone = false;

  function report(change: 'added' | 'removed', file: FileEntry): void {
    const { fileId, fileName, fileSize, folder, once } = file;
    const value = { change, fileId, fileName, fileSize, ...(folder && { folder }), ...(once && { once }) };
    print(input, value, `${change} ${printable(pathInRoom(file))} (${formatSize(file)})`);
    isDone ||= input.isSet('once');
  }

  function update(files: Map<string, FileEntry>): void {
    const before = known ?? files;
    known = files;
    for (const [id, file] of files) if (!before.has(id)) report('added', file);
    for (const [id, file] of before) if (!files.has(id)) report('removed', file);
  }

  function onEvent(event: LiveEvent): void {
    if (event.type === 'waiting' && !known) throw event.error;
    noteConnection(event.type);
    if (event.type === 'snapshot') update(new Map(event.files.map((file) => [file.fileId, file])));
    if (event.type === 'file-added') update(new Map([...(known ?? []), [event.file.fileId, event.file]]));
    if (event.type === 'file-removed') update(new Map([...(known ?? [])].filter(([id]) => id !== event.fileId)));
    if (isDone) unread.abort();
  }

  const live = room.live({ signal: AbortSignal.any([signal, unread.signal]) });
  const end = await consume(live[Symbol.asyncIterator](), onEvent);
  signal.throwIfAborted();
  if (input.isSet('once') && !isDone) throw endedBefore(end, 'a file');
  if (!isDone) printEnd(end);
}

/** Runs until the output is closed. A slow reader skips to the newest text, because a queue could fill the memory. */
function printEach(watching: Watch): Promise<Ended> {
  const { input, text, signal } = watching;
  const { stdout } = process;
  const unread = new AbortController();
  let isBehind = false;
  stdout.once('error', () => unread.abort());
  stdout.on('drain', () => {
    if (isBehind) printText(input, text);
    isBehind = false;
  });
  return followText({ ...watching, signal: AbortSignal.any([signal, unread.signal]) }, () => {
    isBehind = stdout.writableNeedDrain;
    if (!isBehind) printText(input, text);
  });
}

/** Runs one command at a time. After changes during a run, it runs once more, with the newest text. */
async function runOnEach(watching: Watch): Promise<Ended> {
  const { text, signal } = watching;
  const runs = createRepeatable(async () => {
    if (signal.aborted || !isWritten(text)) return;
    const exitCode = await runOnText(watching);
    if (exitCode !== 0 && !signal.aborted) console.error(`poproom: The command failed with exit code ${exitCode}.`);
  });
  try {
    return await followText(watching, runs.request);
  } finally {
    await runs.close();
  }
}

/** The first text is the one that the room already has, not a change. */
async function waitForChange(watching: Watch): Promise<void> {
  const { input, text, signal } = watching;
  const changed = new AbortController();
  const end = await followText({ ...watching, signal: AbortSignal.any([signal, changed.signal]) }, (isFirst) => {
    if (!isFirst) changed.abort();
  });
  signal.throwIfAborted();
  if (!changed.signal.aborted) throw endedBefore(end, 'the text');
  if (input.value('exec') === undefined) return printText(input, text);
  const exitCode = await runOnText(watching);
  if (exitCode !== 0) throw new ExitError(exitCode);
}

function printText(input: Input, text: SharedText): void {
  if (isWritten(text)) process.stdout.write(input.isSet('json') ? toJsonLine(text) : toLines(text.value));
}

/** The empty text of a new room is not printed. */
const isWritten = ({ version }: SharedText) => version > 0;

const toJsonLine = ({ value: content, version, timestamp }: SharedText) =>
  `${formatJson({ content, version, timestamp })}\n`;

function toLines(content: string): string {
  const printable = process.stdout.isTTY ? printableText(content) : content;
  return printable.endsWith('\n') ? printable : `${printable}\n`;
}

/** Exit code of a shell that cannot find the command. */
const notFound = 127;

/** Returns the exit code of the command; if a signal ended it, 128 plus its number, as shells do. */
async function runOnText({ input, room, text, signal }: Watch): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const child = spawn(input.value('exec') ?? '', {
    shell: readEnvironment().shell,
    env: environmentWith({ POPROOM_CODE: room.code, POPROOM_VERSION: String(text.version) }),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const terminate = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', terminate);
  child.on('error', () => resolve(notFound));
  child.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
  // The command may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input.isSet('json') ? toJsonLine(text) : text.value);
  return promise.finally(() => signal.removeEventListener('abort', terminate));
}

/**
 * Stays in the room until it ends or the signal aborts. It reconnects after interruptions. Calls `onText` when the text has
 * been received, and after each change.
 */
export async function followText({ room, text, signal }: Omit<Watch, 'input'>, onText: (isFirst: boolean) => void) {
  const noteConnection = createConnectionNotices();
  let isLoaded = false;

  function onReceived(): void {
    noteConnection('connected');
    const isFirst = !isLoaded;
    isLoaded = true;
    onText(isFirst);
  }

  text.on('change', ({ origin }) => {
    if (origin === 'remote') onReceived();
  });
  // An empty text arrives without a change event.
  text.on('state', () => {
    if (!isLoaded && text.state !== 'loading') onReceived();
  });

  function onEvent(event: LiveEvent): void {
    // Fail before the first text: waiting would make a wrong URL look like a room without changes.
    if (event.type === 'waiting' && !isLoaded) throw event.error;
    noteConnection(event.type);
  }

  try {
    return await consume(room.live({ text, signal })[Symbol.asyncIterator](), onEvent);
  } catch (error) {
    if (isLoaded) return endedWhileOffline(error, room);
    throw error;
  }
}

async function consume(events: AsyncGenerator<LiveEvent, Ended>, onEvent: (event: LiveEvent) => void): Promise<Ended> {
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value;
      onEvent(value);
    }
  } finally {
    await events.return('left');
  }
}

function createConnectionNotices() {
  let isLost = false;
  return (event: LiveEvent['type']): void => {
    if (event === 'waiting' && !isLost) printNotice('Connection lost. Reconnecting…');
    if (event === 'connected' && isLost) printNotice('Reconnected.');
    isLost = event === 'waiting' || (isLost && event !== 'connected');
  };
}

/** A room that was joined and no longer exists ended while the connection was lost, or else the link to it. */
function endedWhileOffline(error: unknown, room: Room): Ended {
  const code = error instanceof PoproomError ? error.code : undefined;
  if (code === 'ROOM_NOT_FOUND') return parseLinkId(room.code) ? 'revoked' : 'deleted';
  if (code === 'ROOM_EXPIRED') return 'expired';
  throw error;
}

const endedBefore = (ended: Ended, what: string) =>
  new PoproomError('ROOM_NOT_FOUND', `${endReason(ended)} before ${what} changed.`, { details: { ended } });

export function printEnd(end: Ended): void {
  if (end !== 'left') printNotice(`${endReason(end)}.`);
}

function endReason(end: Ended): string {
  if (end === 'revoked') return 'The link no longer works';
  return end === 'expired' ? 'The room has expired' : 'The room was deleted';
}

/** Work that runs after each request, one run at a time. Several requests during a run count as one. */
export function createRepeatable(work: () => Promise<void>) {
  let [isRequested, isClosed] = [false, false];
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    while (isRequested) {
      isRequested = false;
      await work();
    }
    running = undefined;
  }

  return {
    request(): void {
      if (isClosed) return;
      isRequested = true;
      running ??= Promise.resolve().then(runAll);
    },
    /** Resolves when nothing is running or requested. Later requests have no effect. */
    async close(): Promise<void> {
      await running;
      isClosed = true;
    },
  };
}
