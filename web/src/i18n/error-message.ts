/** Error messages for people, by error code. */
import type { PoproomError } from '../../../src/client/error.ts';
import { limits } from '../page-settings.ts';
import { roughTime, size } from './quantities.ts';
import { t } from './strings.ts';
import type { FirstKey } from './translation.ts';

/** `ms`: the time left until a retry can succeed, where the caller counts it down. */
export function errorMessage(error: PoproomError, ms = (error.retryAfter ?? 60) * 1000): string {
  const time = roughTime(ms);
  switch (error.code) {
    case 'RATE_LIMITED':
      return t(limitKeys[String(error.details.reason)] ?? 'limitRequests', { time });
    case 'OFFLINE':
      return t(error.details.reason === 'code' ? 'loadFailed' : 'errorOffline');
    case 'FILE_TOO_LARGE':
      return t('errorFileTooLarge', { size: size(Number(error.details.maximum ?? limits.fileMax)) });
    case 'ROOM_FULL':
      return roomFullMessage(error.details);
  }
  const key = messageKeys[error.code];
  return key ? t(key, { time, size: size(limits.contentMax) }) : error.message;
}

function roomFullMessage({ bytesLeft, maximumFiles, maximumBytes }: PoproomError['details']): string {
  if (bytesLeft !== undefined) return t('errorNoSpace', { left: size(Number(bytesLeft)) });
  // The server does not say which of the two limits was reached.
  return maximumBytes === undefined && maximumFiles !== undefined
    ? t('errorTooManyFiles', { n: Number(maximumFiles) })
    : t('errorRoomFull');
}

const limitKeys: Record<string, FirstKey> = {
  requests: 'limitRequests',
  misses: 'limitMisses',
  devices: 'limitDevices',
  channels: 'limitChannels',
};

const messageKeys: Partial<Record<PoproomError['code'], FirstKey>> = {
  KEY_LOCKED: 'limitMisses',
  PIN_LOCKED: 'pinLocked',
  CONTENT_TOO_LARGE: 'textTooLong',
  QUOTA_EXCEEDED: 'errorQuota',
  STORAGE_FULL: 'errorStorageFull',
  FILE_NOT_FOUND: 'errorFileDeleted',
  UNAVAILABLE: 'errorServer',
  INTERNAL: 'errorServer',
  INVALID_RESPONSE: 'errorServer',
  ROOM_NOT_FOUND: 'errorNotFound',
  ROOM_EXPIRED: 'roomExpired',
  FILE_CHANGED: 'fileChanged',
  DATA_DAMAGED: 'fileDamaged',
};
