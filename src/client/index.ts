/** The SDK: rooms from a program, in browsers and elsewhere. */
export { parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
export type { Snapshot } from '../protocol/types.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { PoproomError, type PoproomErrorCode } from './error.ts';
export type { Ended, LiveEvent, LiveRoom } from './live.ts';
export type { RateLimit } from './rate-limit.ts';
export type { Room } from './room.ts';
export type { WriteAnswer } from './writes.ts';
