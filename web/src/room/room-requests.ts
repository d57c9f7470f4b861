/** The requests of a room, and the code that transfers files. Loaded with the first of them: joining needs neither. */
import { createRoomHandle, type RoomBase } from '../../../src/client/room.ts';
import type { RoomAccess } from '../../../src/client/room-access.ts';
import { transport } from '../server-connection.ts';

export const openRequests = (access: RoomAccess): RoomBase => createRoomHandle(transport, access);
