/** The parts of the SDK that the page needs before it joins a room. It loads the others on demand. */

export { resumeTokenTtlMs } from '../protocol/resume.ts';
export { requestRoom } from './create-room.ts';
export type { EncryptedRoom } from './crypto/index.ts';
export { EncryptionError, PoproomError } from './error.ts';
export { rateLimitIn } from './rate-limit.ts';
export type { FileRoom } from './room.ts';
export { createTransport } from './transport.ts';
