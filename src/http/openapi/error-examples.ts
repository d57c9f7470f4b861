/** What each error looks like on the wire, as the OpenAPI document and the page show it. */
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { largestFile } from '../../protocol/largest-file.ts';

interface ErrorExample {
  message: string;
  details?: Record<string, unknown>;
}

export const errorExamples: Record<ErrorCode, ErrorExample> = {
  VALIDATION_FAILED: {
    message: '"pin" must be a string of exactly four digits, such as "0427".',
    details: { field: 'pin' },
  },
  INVALID_JSON: { message: 'The body is not well-formed JSON.' },
  PIN_REQUIRED: { message: 'This room is protected: send its PIN along, by HTTP in the header X-Room-Pin.' },
  API_KEY_REQUIRED: { message: 'This server asks for an API key: send it as Authorization: Bearer KEY.' },
  INVALID_API_KEY: { message: 'This API key is unknown or was revoked.' },
  PIN_INCORRECT: { message: 'This is not the PIN of the room; 4 tries are left.', details: { triesLeft: 4 } },
  ROOM_NOT_FOUND: { message: 'There is no room with this code.' },
  FILE_NOT_FOUND: { message: 'There is no such file, or its room is gone.' },
  NOT_FOUND: { message: 'There is nothing at this path.' },
  METHOD_NOT_ALLOWED: {
    message: 'This path does not take PUT, only GET, DELETE, HEAD, OPTIONS.',
    details: { allow: ['GET', 'DELETE', 'HEAD', 'OPTIONS'] },
  },
  ROOM_EXPIRED: { message: 'This room has expired, and everything in it is gone.' },
  VERSION_CONFLICT: {
    message: 'Someone else changed the text meanwhile; nothing was overwritten.',
    details: { content: 'Hello, world', version: 7, timestamp: '2026-11-15T09:30:00.000Z' },
  },
  CONTENT_TOO_LARGE: {
    message: 'The text may have at most 1048576 bytes of UTF-8.',
    details: { maximum: 1_048_576 },
  },
  FILE_TOO_LARGE: {
    message: 'A file may have at most 10 MiB (10,485,760 bytes).',
    details: { maximum: largestFile },
  },
  ROOM_FULL: {
    message: 'A room holds at most 100 files and 100 MiB; remove one to make room.',
    details: { maximumFiles: 100, maximumBytes: 104_857_600 },
  },
  QUOTA_EXCEEDED: {
    message: 'You have stored 498.2 MiB of at most 500 MiB; remove files, or wait until rooms expire.',
    details: { scope: 'client', used: 522_400_563, maximum: 524_288_000, freesAt: '2026-11-16T09:30:00.000Z' },
  },
  UNSUPPORTED_MEDIA_TYPE: { message: 'Send the body as JSON, with Content-Type: application/json.' },
  RATE_LIMITED: {
    message: 'The 100 requests an hour of the free tier are used up; try again in 21 minutes.',
    details: { reason: 'requests', retryAfter: 1243, limit: 100 },
  },
  PIN_LOCKED: {
    message: 'Too many wrong PINs were tried on this room; try again in 30 seconds.',
    details: { retryAfter: 30 },
  },
  INTERNAL: { message: 'Something went wrong on the server; it has been noted.' },
  UNAVAILABLE: { message: 'The database does not take writes at the moment.' },
  STORAGE_FULL: { message: 'The server has no room left for files.' },
};
