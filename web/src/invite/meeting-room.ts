/** The room through which a screen and a phone exchange an invitation. Neither of them has a name in it. */
import { createRoomHandle, type RoomBase } from '../../../src/client/room.ts';
import { createRoomPin } from '../../../src/client/room-access.ts';
import { lazyTransfer } from '../room/lazy-transfer.ts';
import { transport } from '../server.ts';

export const openMeetingRoom = (code: string): RoomBase =>
  createRoomHandle(
    transport,
    { code, pin: createRoomPin(undefined), deviceId: undefined, deviceName: undefined },
    lazyTransfer,
  );
