/** The parts of the SDK that the page needs to join a room, without requests, text engine and file transfers. */

export { type LiveRoom, openLive } from './live.ts';
export type { FileTransfer } from './room.ts';
export { type RoomAccess, roomPath } from './room-access.ts';
export { createRoomPin } from './room-pin.ts';
