/** The live channel of a room: turns what it receives into events of the room, and follows changes of the device. */
import type { LiveRoom } from '../../../src/client/live-channel.ts';
import type { Ended, LiveEvent } from '../../../src/client/live-state.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { deviceName } from '../device/identity.ts';
import { showsCarets } from '../device/preferences.ts';
import { rememberRoom, savedResumeToken, saveResumeToken } from '../device/recent-rooms.ts';
import { toPoproomError } from '../server-connection.ts';
import { checkRequestLimit } from './request-limit.ts';
import type { JoinAttempt, PhaseNamed, RoomEvent } from './room-phase.ts';

/** The channel stays open until the room ends, joining fails, or the attempt is aborted. */
export async function openChannel(
  code: RoomCode,
  { attempt, text }: PhaseNamed<'joining' | 'pin-checking'>,
  send: (event: RoomEvent) => void,
  onHidden: () => void,
): Promise<void> {
  const { signal } = attempt.aborter;
  try {
    if (attempt.refuse) throw await attempt.refuse();
    const live = attempt.room.live({
      signal,
      text: text.shared,
      carets: showsCarets.value,
      resumeToken: savedResumeToken(code),
      onResumeToken: (token) => saveResumeToken(code, token),
    });
    const saveText = () => {
      text.flush();
      onHidden();
    };
    text.live = live;
    listenToDevice(live, saveText, signal);
    const end = await readAll(live, (event) => {
      if (signal.aborted) return;
      if (event.type === 'connected') void checkRequestLimit();
      if (event.type === 'caret') text.caret.value = event;
      else send(toRoomEvent(code, event, attempt));
    });
    if (end !== 'left') send({ type: 'ended', reason: end as 'deleted' | 'expired' });
  } catch (error) {
    if (!signal.aborted) send({ type: 'failed', error: toPoproomError(error), at: Date.now() });
  }
}

/** Returns how the channel ended. */
async function readAll(live: LiveRoom, onEvent: (event: LiveEvent) => void): Promise<Ended> {
  const events = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    onEvent(value);
  }
}

/** Adds the room to the recent rooms when it is joined. */
function toRoomEvent(
  code: RoomCode,
  event: Exclude<LiveEvent, { type: 'caret' }>,
  { encryption }: JoinAttempt,
): RoomEvent {
  if (event.type !== 'snapshot') return event;
  const { expiresAt, hasPin, name } = event.room;
  // The server could claim encryption. Only the key proves it.
  const isEncrypted = encryption ? true : undefined;
  return { ...event, recent: rememberRoom({ code, expiresAt: Date.parse(expiresAt), hasPin, name, isEncrypted }) };
}

/** Reacts to visibility, network and name changes of the device. */
function listenToDevice(live: LiveRoom, onHidden: () => void, signal: AbortSignal): void {
  const onVisibilityChange = () => {
    if (document.visibilityState === 'visible') live.wake();
    else onHidden();
  };
  addEventListener('pagehide', onHidden, { signal });
  addEventListener('online', live.wake, { signal });
  addEventListener('offline', live.interrupt, { signal });
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });
  signal.addEventListener('abort', deviceName.subscribe(skipFirst((name) => live.rename(name))));
}

/** A subscription starts with the current value, which is not a change. */
function skipFirst<T>(listen: (value: T) => void): (value: T) => void {
  let isFirst = true;
  return (value) => {
    if (!isFirst) listen(value);
    isFirst = false;
  };
}
