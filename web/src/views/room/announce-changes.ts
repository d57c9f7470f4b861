/** Tells the user what has changed in the room. */
import { notify } from '../../components/notices.tsx';
import { clockOffset } from '../../device/clock.ts';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/quantities.ts';
import type { RoomContent } from '../../room/room-phase.ts';

export function announceChanges(before: RoomContent, { name, hasPin, pinChanges, expiresAt }: RoomContent): void {
  if (name !== before.name) notify(name ? t('roomRenamed', { name }) : t('roomNameRemoved'));
  if (hasPin !== before.hasPin) notify(t(hasPin ? 'pinWasSet' : 'pinWasRemoved'));
  else if (pinChanges !== before.pinChanges) notify(t('pinWasChanged'));
  if (expiresAt !== before.expiresAt)
    notify(t('roomExpiresIn', { time: roughTime(expiresAt + clockOffset.value - Date.now()) }));
}
