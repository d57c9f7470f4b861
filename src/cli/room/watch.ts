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
import { assertOnlyCode, type Input } from '../command.ts';
import { environmentWith, readEnvironment } from '../environment.ts';
import { ExitError, UsageError, untilInterrupted } from '../errors.ts';
import { formatJson, print, printable, printableText, printNotice } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './room-files.ts';

type Watch = { input: Input; room: Room; text: SharedText; signal: AbortSignal };

export async function watch(input: Input): Promise<void> {
  assertOnlyCode('watch', input);
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
  const notices = createConnectionNotices();
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
    if (event.type === 'waiting') notices.onLost();
    if (event.type === 'connected') notices.onConnected();
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
function printEach({ input, room, text, signal }: Watch): Promise<Ended> {
  const { stdout } = process;
  const unread = new AbortController();
  let isBehind = false;
  stdout.once('error', () => unread.abort());
  stdout.on('drain', () => {
    if (isBehind) printText(input, text);
    isBehind = false;
  });
  return followText({
    room,
    text,
    signal: AbortSignal.any([signal, unread.signal]),
    onText() {
      isBehind = stdout.writableNeedDrain;
      if (!isBehind) printText(input, text);
    },
  });
}

/** Runs one command at a time. After changes during a run, it runs once more, with the newest text. */
async function runOnEach(watching: Watch): Promise<Ended> {
  const { room, text, signal } = watching;
  const changed = createAutoResetEvent();
  const running = runAll();
  try {
    return await followText({ room, text, signal, onText: changed.set });
  } finally {
    changed.close();
    await running;
  }

  async function runAll(): Promise<void> {
    while ((await changed.wait()) === 'set' && !signal.aborted) {
      const exitCode = isWritten(text) ? await runOnText(watching) : 0;
      if (exitCode !== 0 && !signal.aborted) console.error(`poproom: The command failed with exit code ${exitCode}.`);
    }
  }
}

/** The first text is the one that the room already has, not a change. */
async function waitForChange(watching: Watch): Promise<void> {
  const { input, room, text, signal } = watching;
  const changed = new AbortController();
  const end = await followText({
    room,
    text,
    signal: AbortSignal.any([signal, changed.signal]),
    onText(isFirst) {
      if (!isFirst) changed.abort();
    },
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

/** `onText` is called when the text has been received, and after each change. */
type FollowOptions = Omit<Watch, 'input'> & { onText: (isFirst: boolean) => void };

/** Stays in the room until it ends or the signal aborts. It reconnects after interruptions. */
export async function followText({ room, text, signal, onText }: FollowOptions): Promise<Ended> {
  const notices = createConnectionNotices();
  let isLoaded = false;

  function onReceived(): void {
    notices.onConnected();
    const isFirst = !isLoaded;
    isLoaded = true;
    onText(isFirst);
  }

  const listening = [
    text.on('change', ({ origin }) => {
      if (origin === 'remote') onReceived();
    }),
    // An empty text arrives without a change event.
    text.on('state', () => {
      if (!isLoaded && text.state !== 'loading') onReceived();
    }),
  ];

  function onEvent(event: LiveEvent): void {
    // Fail before the first text: waiting would make a wrong URL look like a room without changes.
    if (event.type === 'waiting' && !isLoaded) throw event.error;
    if (event.type === 'waiting') notices.onLost();
    if (event.type === 'connected') notices.onConnected();
  }

  try {
    return await consume(room.live({ text, signal })[Symbol.asyncIterator](), onEvent);
  } catch (error) {
    if (isLoaded) return endedWhileOffline(error, room);
    throw error;
  } finally {
    for (const stop of listening) stop();
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
  return {
    onLost(): void {
      if (!isLost) printNotice('Connection lost. Reconnecting…');
      isLost = true;
    },
    onConnected(): void {
      if (isLost) printNotice('Reconnected.');
      isLost = false;
    },
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

/** Reports why the room ended, unless the user left it. */
export function printEnd(end: Ended): void {
  if (end !== 'left') printNotice(`${endReason(end)}.`);
}

function endReason(end: Ended): string {
  if (end === 'revoked') return 'The link no longer works';
  return end === 'expired' ? 'The room has expired' : 'The room was deleted';
}

/** Wakes one waiting loop. Several calls of `set` before the next `wait` count as one. */
export function createAutoResetEvent() {
  let isSet = false;
  let isClosed = false;
  let wake = () => {};

  function take(): 'set' | 'timeout' | 'closed' {
    if (!isSet) return isClosed ? 'closed' : 'timeout';
    isSet = false;
    return 'set';
  }

  return {
    set() {
      isSet = true;
      wake();
    },

    /** Makes `wait` return `closed`, once a pending `set` has been consumed. */
    close() {
      isClosed = true;
      wake();
    },

    async wait(withinMs?: number) {
      if (isSet || isClosed) return take();
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(timer);
      return take();
    },
  };
}
