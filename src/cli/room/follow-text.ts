/** Follows the text of a room, and reports connection changes to the user. */
import {
  type Ended,
  type LiveEvent,
  PoproomError,
  type Room,
  type RoomText,
  type SharedText,
} from '../../client/index.ts';
import { printNotice } from '../output.ts';

export interface FollowOptions {
  room: Room;
  text: SharedText;
  signal: AbortSignal;
  /** Called when the text has been received, and after each change. */
  onText: (isFirst: boolean) => void;
}

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
    if (isLoaded) return endedWhileOffline(error);
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

/** A room that was joined and no longer exists ended while the connection was lost. */
function endedWhileOffline(error: unknown): Ended {
  const code = error instanceof PoproomError ? error.code : undefined;
  if (code === 'ROOM_NOT_FOUND') return 'deleted';
  if (code === 'ROOM_EXPIRED') return 'expired';
  throw error;
}

export function currentText({ value, version, timestamp }: SharedText): RoomText {
  return { content: value, version, timestamp };
}

/** Reports why the room ended, unless the user left it. */
export function printEnd(end: Ended): void {
  if (end !== 'left') printNotice(`${endReason(end)}.`);
}

export function endReason(end: Ended): string {
  return end === 'expired' ? 'The room has expired' : 'The room was deleted';
}
