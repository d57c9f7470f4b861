/** The limit on how much text can be inserted at once. */
import { notify } from '../../components/notices.tsx';
import { size } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import { limits } from '../../limits.ts';

/** Notifies the user if so. The server would close the connection on a message of this size. */
export function isTooLong(length: number): boolean {
  const isOver = length > limits.contentMax;
  if (isOver) notify(t('insertTooLong', { size: size(limits.contentMax) }));
  return isOver;
}
