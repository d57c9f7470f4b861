/** The SDK for a page that loads the text engine (`text.ts`) only when it needs it. */
export { type ClientOptions, createBaseClient } from './base-client.ts';
export { PoproomError } from './error.ts';
export type { RoomBase } from './room.ts';
