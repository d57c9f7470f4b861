/** The meeting room of an invitation, which both sides follow until it ends. */
import type { LiveEvent } from '../../../../src/client/live-state.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import { createRoomPin } from '../../../../src/client/room-access.ts';
import { openRequests } from '../../room/room-requests.ts';

/** The text of the room in an event that contains it. */
export function textIn(event: LiveEvent): string | undefined {
  if (event.type === 'content') return event.content;
  return event.type === 'snapshot' ? event.content.content : undefined;
}

/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
export const openMeetingRoom = (code: string): RoomBase =>
  openRequests({ code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined });
