/** `poproom watch`: prints the text of a room whenever it changes, or runs a command on it. */
import { createSharedText, type Ended, PoproomError, type Room, type SharedText } from '../../client/index.ts';
import { assertOnlyCode } from '../arguments.ts';
import { createAutoResetEvent } from '../auto-reset-event.ts';
import type { Input } from '../command.ts';
import { ExitError } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { formatJson } from '../output.ts';
import { printableText } from '../printable.ts';
import { withRoom } from '../server-context.ts';
import { UsageError } from '../usage-error.ts';
import { currentText, endReason, followText, printEnd } from './follow-text.ts';
import { runCommand } from './run-command.ts';

interface Watch {
  input: Input;
  room: Room;
  text: SharedText;
  signal: AbortSignal;
}

export async function watch(input: Input): Promise<void> {
  assertOnlyCode('watch', input);
  const command = input.value('exec');
  if (command?.trim() === '') throw new UsageError('Which command? Give one after --exec.');
  await withRoom(input, (room) =>
    untilInterrupted(async (signal) => {
      const watching = { input, room, text: createSharedText(), signal };
      if (input.isSet('once')) return waitForChange(watching);
      printEnd(await (command ? runOnEach(watching) : printEach(watching)));
    }),
  );
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
  if (!changed.signal.aborted)
    throw new PoproomError('ROOM_NOT_FOUND', `${endReason(end)} before its text changed.`, { details: { ended: end } });
  if (input.value('exec') === undefined) return printText(input, text);
  const exitCode = await runOnText(watching);
  if (exitCode !== 0) throw new ExitError(exitCode);
}

function runOnText({ input, room, text, signal }: Watch): Promise<number> {
  return runCommand({
    command: input.value('exec') ?? '',
    input: input.isSet('json') ? toJsonLine(text) : text.value,
    env: { POPROOM_CODE: room.code, POPROOM_VERSION: String(text.version) },
    signal,
  });
}

function printText(input: Input, text: SharedText): void {
  if (isWritten(text)) process.stdout.write(input.isSet('json') ? toJsonLine(text) : toLines(text.value));
}

/** The empty text of a new room is not printed. */
const isWritten = ({ version }: SharedText) => version > 0;

const toJsonLine = (text: SharedText) => `${formatJson(currentText(text))}\n`;

function toLines(content: string): string {
  const printable = process.stdout.isTTY ? printableText(content) : content;
  return printable.endsWith('\n') ? printable : `${printable}\n`;
}
