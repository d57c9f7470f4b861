/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
import type { RoomBase } from '../../../src/client/room.ts';
import { createRoomPin } from '../../../src/client/room-access.ts';
import { openRequests } from '../room/room-requests.ts';

export const openMeetingRoom = (code: string): RoomBase =>
  openRequests({ code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined });
