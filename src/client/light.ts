/** The SDK for a page that loads the text engine (`text.ts`) only when it needs it. */

export { tokenLastsMs } from '../protocol/resume.ts';
export { type ClientOptions, createBaseClient } from './base-client.ts';
export { PoproomError } from './error.ts';
export { rateLimitIn } from './rate-limit.ts';
export type { RoomBase } from './room.ts';
