/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
import type { FileRoom } from '../../../src/client/light.ts';
import { createRoomPin } from '../../../src/client/light-room.ts';
import { createRoomHandle } from '../../../src/client/room.ts';
import { createTextRequests } from '../../../src/client/room-text.ts';
import { lazyTransfer } from '../room/lazy-room.ts';
import { transport } from '../server.ts';

export interface MeetingRoom extends FileRoom {
  write: ReturnType<typeof createTextRequests>['write'];
}

export function openMeetingRoom(code: string): MeetingRoom {
  const access = { code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined };
  const room = createRoomHandle(transport, access, lazyTransfer);
  return { ...room, write: createTextRequests(transport, access, room).write };
}
