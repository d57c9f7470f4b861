/** `poproom clip`: keeps the clipboard and the text of a room the same. */
import type { Ended, Room, RoomText } from '../../client/index.ts';
import { takesOnlyCode } from '../arguments.ts';
import { type Clipboard, findClipboard } from '../clipboard.ts';
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { untilInterrupted } from '../interruption.ts';
import { createNewest } from '../newest.ts';
import { inJson, remark } from '../output.ts';
import { printable } from '../printable.ts';
import { inRoom } from '../visit.ts';
import { followText, remarkEnd } from './follow-text.ts';
import { createMirror, type Step } from './mirror.ts';

const lookEveryMs = 1000;

export async function clip(input: Input): Promise<void> {
  takesOnlyCode('clip', input);
  const open = findClipboard(readEnvironment());
  await inRoom(input, (room) =>
    untilInterrupted(async (signal) => remarkEnd(await keepSame(input, { room, clipboard: open(signal), signal }))),
  );
}

interface Ends {
  room: Room;
  clipboard: Clipboard;
  signal: AbortSignal;
}

/** Until the room is over, or one of the two ends fails. */
async function keepSame(input: Input, { room, clipboard, signal }: Ends): Promise<Ended> {
  const failing = new AbortController();
  const live = room.live({ signal: AbortSignal.any([signal, failing.signal]) });
  const mirror = createMirror(clipboard, live, (step) => tell(input, step));
  const texts = createNewest<RoomText>();
  const mirroring = mirrorAll().catch((error) => {
    failing.abort();
    throw error;
  });
  // Waited for below; until then, a failure is not one that nobody looks at.
  mirroring.catch(() => undefined);
  try {
    return await followText(live, texts.put);
  } finally {
    texts.end();
    await mirroring;
  }

  async function mirrorAll(): Promise<void> {
    // The room comes first: nothing is known of it before.
    for (let text = await texts.take(); !texts.hasEnded; text = await texts.take(lookEveryMs)) {
      if (text) await mirror.toClipboard(text);
      else await mirror.toRoom();
    }
  }
}

function tell(input: Input, step: Step): void {
  if (input.isSet('json')) console.log(inJson(step));
  else if (step.problem !== undefined) console.error(printable(step.problem));
  else remark(step.to === 'room' ? 'Clipboard → room' : 'Room → clipboard');
}
