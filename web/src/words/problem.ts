/** Errors, in the words of the page. */
import type { PoproomError } from '../../../src/client/index.ts';
import { limits } from '../limits.ts';
import { t } from './index.ts';
import { roughTime, size } from './quantities.ts';

export function problemText(error: PoproomError): string {
  const time = error.retryAfter === undefined ? '' : roughTime(error.retryAfter * 1000);
  switch (error.code) {
    case 'OFFLINE':
      return t('errorOffline');
    case 'RATE_LIMITED':
      return time ? t('errorLimited', { time }) : t('errorBusy');
    case 'PIN_LOCKED':
      return t('pinLocked', { time });
    case 'FILE_TOO_LARGE':
      return t('errorFileTooLarge', { size: size(limits.fileMax) });
    case 'CONTENT_TOO_LARGE':
      return t('textTooLong', { size: size(limits.contentMax) });
    case 'ROOM_FULL':
      return t('errorRoomFull');
    case 'STORAGE_FULL':
      return t('errorStorageFull');
    case 'UNAVAILABLE':
    case 'INTERNAL':
      return t('errorServer');
    case 'API_KEY_REQUIRED':
    case 'INVALID_API_KEY':
      return t('errorKeyRequired');
    case 'ROOM_NOT_FOUND':
      return t('errorNotFound');
    case 'ROOM_EXPIRED':
      return t('roomExpired');
    default:
      return error.message;
  }
}
