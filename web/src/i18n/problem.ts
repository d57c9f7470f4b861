/** Errors, in the words of the page. */
import type { PoproomError } from '../../../src/client/index.ts';
import { limits } from '../limits.ts';
import { t, type Words } from './index.ts';
import { roughTime, size } from './quantities.ts';

/** `ms` until it is worth trying again, where that is known better than when the error was made. */
export function problemText(error: PoproomError, ms = (error.retryAfter ?? 60) * 1000): string {
  const time = roughTime(ms);
  switch (error.code) {
    case 'RATE_LIMITED':
      return t(limitWords[String(error.details.reason)] ?? 'limitRequests', { time });
    case 'PIN_LOCKED':
      return t('pinLocked', { time });
    case 'FILE_TOO_LARGE':
      return t('errorFileTooLarge', { size: size(limits.fileMax) });
    case 'CONTENT_TOO_LARGE':
      return t('textTooLong', { size: size(limits.contentMax) });
    default:
      return plain[error.code] ? t(plain[error.code] as Words) : error.message;
  }
}

const limitWords: Record<string, Words> = {
  requests: 'limitRequests',
  misses: 'limitMisses',
  devices: 'limitDevices',
  channels: 'limitChannels',
};

const plain: Partial<Record<PoproomError['code'], Words>> = {
  OFFLINE: 'errorOffline',
  ROOM_FULL: 'errorRoomFull',
  QUOTA_EXCEEDED: 'errorQuota',
  STORAGE_FULL: 'errorStorageFull',
  UNAVAILABLE: 'errorServer',
  INTERNAL: 'errorServer',
  INVALID_RESPONSE: 'errorServer',
  API_KEY_REQUIRED: 'errorKeyRequired',
  INVALID_API_KEY: 'errorKeyRequired',
  ROOM_NOT_FOUND: 'errorNotFound',
  ROOM_EXPIRED: 'roomExpired',
};
