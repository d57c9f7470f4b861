/** Live channels: follow changes of the device, and turn what the channel of a room receives into events of the room. */
import type { LiveRoom } from '../../../src/client/live-channel.ts';
import type { Ended, LiveEvent } from '../../../src/client/live-state.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { deviceName } from '../device/identity.ts';
import { onChange, showsCarets } from '../device/preferences.ts';
import { rememberRoom, savedResumeToken, saveResumeToken } from '../device/recent-rooms.ts';
import { checkRequestLimit, toPoproomError } from '../server-connection.ts';
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
    const onEvent = (event: LiveEvent) => {
      if (event.type === 'connected') void checkRequestLimit();
      if (event.type === 'caret') text.caret.value = event;
      else send(toRoomEvent(code, event, attempt));
    };
    text.live = live;
    addEventListener('pagehide', saveText, { signal });
    signal.addEventListener(
      'abort',
      onChange(deviceName, (name) => live.rename(name)),
    );
    const end = await followChannel(live, signal, onEvent, saveText);
    if (end !== 'left') send({ type: 'ended', reason: end as 'deleted' | 'expired' });
  } catch (error) {
    if (!signal.aborted) send({ type: 'failed', error: toPoproomError(error), at: Date.now() });
  }
}

/** Returns how the channel ended. Until then, it follows the visibility and the network of the device. */
export async function followChannel(
  live: LiveRoom,
  signal: AbortSignal,
  onEvent: (event: LiveEvent) => void,
  onHidden?: () => void,
): Promise<Ended> {
  const onVisibilityChange = () => (document.visibilityState === 'visible' ? live.wake() : onHidden?.());
  addEventListener('online', live.wake, { signal });
  addEventListener('offline', live.interrupt, { signal });
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });
  const events = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    if (!signal.aborted) onEvent(value);
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
