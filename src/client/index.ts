/** The Poproom SDK, for browsers, Node, Deno and Bun. */
export { isEncryptedCode, parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
export type {
  Confirmation,
  ContentEdited,
  CreateRoomRequest,
  FileClaimed,
  FileEntry,
  FileUploaded,
  HealthReport,
  HistoryEntry,
  HistoryText,
  RoomChanged,
  RoomDetails,
  RoomDevice,
  RoomInfo,
  RoomText,
  Snapshot,
  TextEdit,
  UpdateRoomRequest,
} from '../protocol/types.ts';
export type { ClientOptions, NewRoom } from './base-client.ts';
export { type Client, type CreatedRoom, createClient, type Room } from './client.ts';
export type { SeenVersion } from './encryption.ts';
export { EncryptionError, type EncryptionErrorCode, PoproomError, type PoproomErrorCode } from './error.ts';
export type { ConflictDetails, ErrorDetails } from './error-details.ts';
export type { LiveOptions } from './live-channel.ts';
export type { LiveEnd, LiveRoom, LiveWriteOptions } from './live-end.ts';
export type { Ended, LiveEvent } from './live-event.ts';
export type { RateLimit } from './rate-limit.ts';
export type { ReceiveOptions } from './receive.ts';
export type { RetryEvent, RetryOptions } from './retry.ts';
export type { DownloadOptions, EditOptions, RoomKeyAccess, WriteOptions, ZipOptions } from './room-base.ts';
export { createSharedText, type SharedTextOptions } from './text/create-shared-text.ts';
export type { LiveText, LiveTextOptions } from './text/live-text.ts';
export type { SavedText, SharedText, TextChange, TextEvents, TextState } from './text/shared-text.ts';
export type { CallOptions } from './transport.ts';
export type { OnProgress, UploadOptions } from './upload.ts';
export type { UploadSource } from './upload-source.ts';
export type { WriteAnswer } from './writes.ts';
