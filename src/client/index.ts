/** The Poproom SDK, for browsers, Node, Deno and Bun. */
export { isEncryptedCode, type LinkId, parseLinkId, parseRoomCode, type RoomCode } from '../protocol/room-code.ts';
export type { SeenVersion } from '../protocol/sealed.ts';
export type * from '../protocol/types.ts';
export type { Caret } from './carets.ts';
export { type Client, type CreatedRoom, createClient, type NewRoom, type Room } from './client.ts';
export type { ClientOptions } from './client-options.ts';
export type { WriteAnswer } from './connection.ts';
export type { DownloadOptions, ReceiveOptions, ZipOptions } from './download.ts';
export type { ConflictDetails, ErrorDetails } from './error.ts';
export { EncryptionError, type EncryptionErrorCode, PoproomError, type PoproomErrorCode } from './error.ts';
export type { LiveOptions } from './live-channel.ts';
export type { LiveEnd, LiveRoom, LiveText, LiveTextOptions, LiveWriteOptions } from './live-end.ts';
export type { Ended, LiveEvent } from './live-state.ts';
export type { EditOptions, NewWebhook, WriteOptions } from './requests.ts';
export type { RetryEvent, RetryOptions } from './retry.ts';
export type { RoomKeyAccess } from './room.ts';
export { createSharedText, type SharedTextOptions } from './text/create-shared-text.ts';
export type { SavedText, SharedText, TextChange, TextEvents, TextState } from './text/shared-text.ts';
export type { CallOptions, RateLimit } from './transport.ts';
export type {
  FileToUpload,
  OnProgress,
  UploadAllOptions,
  UploadOptions,
  UploadSource,
  UploadTicket,
} from './upload.ts';
