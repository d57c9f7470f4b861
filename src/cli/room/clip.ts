/** `poproom clip`: keeps the clipboard and the text of a room in sync. */
import { createSharedText, type Ended, type Room } from '../../client/index.ts';
import { assertOnlyCode } from '../arguments.ts';
import { createAutoResetEvent } from '../auto-reset-event.ts';
import { type Clipboard, findClipboard } from '../clipboard.ts';
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { untilInterrupted } from '../interruption.ts';
import { formatJson, printNotice } from '../output.ts';
import { printable } from '../printable.ts';
import { withRoom } from '../server-context.ts';
import { createClipboardSync, type Transfer } from './clipboard-sync.ts';
import { followText, printEnd } from './follow-text.ts';

const pollEveryMs = 1000;

export async function clip(input: Input): Promise<void> {
  assertOnlyCode('clip', input);
  const open = findClipboard(readEnvironment());
  await withRoom(input, (room) =>
    untilInterrupted(async (signal) => printEnd(await synchronize(input, room, open(signal), signal))),
  );
}

/** Runs until the room ends or the clipboard fails. */
async function synchronize(input: Input, room: Room, clipboard: Clipboard, signal: AbortSignal): Promise<Ended> {
  const text = createSharedText();
  const sync = createClipboardSync(clipboard, text, (transfer) => report(input, transfer));
  const changed = createAutoResetEvent();
  const failed = new AbortController();
  const syncing = syncAll().catch((error) => {
    failed.abort();
    throw error;
  });
  // Awaited below; without this, an earlier failure would be an unhandled rejection.
  syncing.catch(() => undefined);
  text.on('state', changed.set);
  try {
    return await followText({ room, text, signal: AbortSignal.any([signal, failed.signal]), onText: changed.set });
  } finally {
    changed.close();
    await syncing;
  }

  async function syncAll(): Promise<void> {
    while ((await changed.wait(pollEveryMs)) !== 'closed') await sync.step();
  }
}

function report(input: Input, transfer: Transfer): void {
  if (input.isSet('json')) console.log(formatJson(transfer));
  else if (transfer.problem !== undefined) console.error(printable(transfer.problem));
  else printNotice(transfer.to === 'room' ? 'Clipboard → room' : 'Room → clipboard');
}
