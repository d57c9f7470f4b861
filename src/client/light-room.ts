/** The parts of the SDK that the page needs in a room, without the text engine and without file transfers. */

export type { LiveRoom } from './live.ts';
export { createRoomHandle, type FileTransfer } from './room.ts';
export { createRoomPin } from './room-pin.ts';
