/** The meeting room of an invitation, which both sides follow until it ends. */
import { PoproomError } from '../../../../src/client/error.ts';
import type { Ended, LiveEvent } from '../../../../src/client/live-state.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import { createRoomPin } from '../../../../src/client/room-access.ts';
import { openRequests } from '../../room/room-requests.ts';

/** Returns how the room ended: `left` if the signal aborted. */
export async function followMeeting(
  room: RoomBase,
  signal: AbortSignal,
  onEvent: (event: LiveEvent) => void,
): Promise<Ended> {
  const live = room.live({ signal });
  addEventListener('online', live.wake, { signal });
  addEventListener('offline', live.interrupt, { signal });
  const onVisibilityChange = () => {
    if (document.visibilityState === 'visible') live.wake();
  };
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });
  const events = live[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value;
      if (!signal.aborted) onEvent(value);
    }
  } catch (error) {
    // The room ended while the channel was not connected.
    if (error instanceof PoproomError && error.code === 'ROOM_NOT_FOUND') return 'deleted';
    if (error instanceof PoproomError && error.code === 'ROOM_EXPIRED') return 'expired';
    throw error;
  }
}

/** The text of the room in an event that contains it. */
export function textIn(event: LiveEvent): string | undefined {
  if (event.type === 'content') return event.content;
  return event.type === 'snapshot' ? event.content.content : undefined;
}

/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
export const openMeetingRoom = (code: string): RoomBase =>
  openRequests({ code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined });
