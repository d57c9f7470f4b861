/** The requests of a room, and the code that transfers files. Loaded with the first of them: joining needs neither. */
import { PoproomError } from '../../../src/client/error.ts';
import type { Ended, LiveEvent } from '../../../src/client/live-state.ts';
import { createRoomHandle, type RoomBase } from '../../../src/client/room.ts';
import type { RoomAccess } from '../../../src/client/room-access.ts';
import { transport } from '../server-connection.ts';
import { followChannel } from './channel-events.ts';

export const openRequests = (access: RoomAccess): RoomBase => createRoomHandle(transport, access);

/** Returns how the room ended: `left` if the signal aborted. */
export async function followRoom(
  room: RoomBase,
  signal: AbortSignal,
  onEvent: (event: LiveEvent) => void,
): Promise<Ended> {
  try {
    return await followChannel(room.live({ signal }), signal, onEvent);
  } catch (error) {
    // The room ended while the channel was not connected.
    if (error instanceof PoproomError && error.code === 'ROOM_NOT_FOUND') return 'deleted';
    if (error instanceof PoproomError && error.code === 'ROOM_EXPIRED') return 'expired';
    throw error;
  }
}
