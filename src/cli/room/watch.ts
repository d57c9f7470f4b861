/** `poproom watch`: prints the text of a room whenever it changes, or runs a command on it. */

import { type Ended as End, PoproomError, type Room, type RoomText } from '../../client/index.ts';
import { takesOnlyCode } from '../arguments.ts';
import type { Input } from '../command.ts';
import { Ended } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { createNewest } from '../newest.ts';
import { inJson } from '../output.ts';
import { printableText } from '../printable.ts';
import { UsageError } from '../usage-error.ts';
import { inRoom } from '../visit.ts';
import { followText, remarkEnd, whyOver } from './follow-text.ts';
import { runOn } from './run-on.ts';

export async function watch(input: Input): Promise<void> {
  takesOnlyCode('watch', input);
  const command = input.value('exec');
  if (command?.trim() === '') throw new UsageError('Which command? Say one after --exec.');
  await inRoom(input, (room) =>
    untilInterrupted(async (signal) => {
      if (input.isSet('once')) return waitForChange(input, room, signal);
      remarkEnd(await (command ? runOnEach(input, room, signal) : printEach(input, room, signal)));
    }),
  );
}

/** Until nobody reads on. Who reads too slowly gets the newest afterwards: all of them would fill the memory. */
function printEach(input: Input, room: Room, signal: AbortSignal): Promise<End> {
  const { stdout } = process;
  const unread = new AbortController();
  let newest: RoomText | undefined;
  stdout.once('error', () => unread.abort());
  stdout.on('drain', () => {
    if (newest) printText(input, newest);
    newest = undefined;
  });
  return followText(room.live({ signal: AbortSignal.any([signal, unread.signal]) }), (text) => {
    if (text.version === 0) return;
    if (stdout.writableNeedDrain) newest = text;
    else printText(input, text);
  });
}

/** One command at a time: what changes while it runs is taken up afterwards, and then the newest alone. */
async function runOnEach(input: Input, room: Room, signal: AbortSignal): Promise<End> {
  const texts = createNewest<RoomText>();
  const running = runAll();
  try {
    return await followText(room.live({ signal }), (text) => {
      if (text.version > 0) texts.put(text);
    });
  } finally {
    texts.end();
    await running;
  }

  async function runAll(): Promise<void> {
    for (let text = await texts.take(); text && !signal.aborted; text = await texts.take()) {
      const exitCode = await runCommand(input, room, text, signal);
      if (exitCode !== 0 && !signal.aborted) console.error(`poproom: The command ended with ${exitCode}.`);
    }
  }
}

/** The text that stands does not count: whoever waits wants another one. */
async function waitForChange(input: Input, room: Room, signal: AbortSignal): Promise<void> {
  let changed: RoomText | undefined;
  const end = await followText(room.live({ signal }), (text, isFirst) => {
    if (isFirst) return;
    changed = text;
    return 'enough';
  });
  signal.throwIfAborted();
  if (!changed) throw new PoproomError('ROOM_NOT_FOUND', `${whyOver(end)} before its text changed.`);
  if (input.value('exec') === undefined) return printText(input, changed);
  const exitCode = await runCommand(input, room, changed, signal);
  if (exitCode !== 0) throw new Ended(exitCode);
}

function runCommand(input: Input, room: Room, text: RoomText, signal: AbortSignal): Promise<number> {
  const given = input.isSet('json') ? `${inJson(text)}\n` : text.content;
  const env = { POPROOM_CODE: room.code, POPROOM_VERSION: String(text.version) };
  return runOn(given, { command: input.value('exec') ?? '', env, signal });
}

function printText(input: Input, text: RoomText): void {
  process.stdout.write(input.isSet('json') ? `${inJson(text)}\n` : onOwnLines(text));
}

function onOwnLines({ content }: RoomText): string {
  const shown = process.stdout.isTTY ? printableText(content) : content;
  return shown.endsWith('\n') ? shown : `${shown}\n`;
}
