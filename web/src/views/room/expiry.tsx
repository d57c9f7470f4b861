/** The time until the room expires: a bar and a countdown. */
import { useServerNow } from '../../components/countdown.tsx';
import { clockTime } from '../../i18n/quantities.ts';
import { t } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room.ts';

const expiringSoonMs = 5 * 60_000;

export function Expiry({ room }: { room: RoomModel }) {
  const now = useServerNow();
  const { expiresAt, since } = room.content.value;
  const left = Math.max(0, expiresAt - now);
  // The creation time is unknown, so the bar is full when this device first joins.
  const whole = Math.max(1, expiresAt - since);
  return (
    <div class="expiry" data-soon={left < expiringSoonMs || undefined}>
      <p>
        <span>{t('expiresIn')}</span> <time>{clockTime(left)}</time>
      </p>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.min(100, (left / whole) * 100)} height="1" />
      </svg>
    </div>
  );
}
