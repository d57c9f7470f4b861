/** The SDK without the text engine, for a page that loads `text.ts` on demand. */

export { resumeTokenTtlMs } from '../protocol/resume.ts';
export { type ClientOptions, createBaseClient } from './base-client.ts';
export { EncryptionError, PoproomError } from './error.ts';
export { rateLimitIn } from './rate-limit.ts';
export type { RoomBase } from './room-base.ts';
