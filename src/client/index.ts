/** The SDK: rooms from a program, in browsers and elsewhere. */
export { parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
export type {
  Confirmation,
  CreateRoomRequest,
  FileEntry,
  FileUploaded,
  HealthReport,
  RoomDevice,
  RoomInfo,
  RoomText,
  Snapshot,
} from '../protocol/types.ts';
export { type Client, type ClientOptions, type CreatedRoom, createClient } from './client.ts';
export { PoproomError, type PoproomErrorCode } from './error.ts';
export type { Ended, LiveEvent, LiveOptions, LiveRoom } from './live.ts';
export type { RateLimit } from './rate-limit.ts';
export type { RetryOptions } from './retry.ts';
export type { Room, WriteOptions } from './room.ts';
export type { UploadOptions } from './upload.ts';
export type { UploadSource } from './upload-source.ts';
export type { CallOptions } from './wire.ts';
export type { WriteAnswer } from './writes.ts';
