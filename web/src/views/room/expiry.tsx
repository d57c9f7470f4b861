/** The time until the room expires: a bar and a countdown. */
import { useServerNow } from '../../components/countdown.tsx';
import { t } from '../../i18n/index.ts';
import { clockTime } from '../../i18n/quantities.ts';
import type { RoomState } from '../../room/room.ts';

const expiringSoonMs = 5 * 60_000;

export function Expiry({ room }: { room: RoomState }) {
  const now = useServerNow();
  const left = Math.max(0, room.expiresAt.value - now);
  // The creation time is unknown, so the bar is full when this device first joins.
  const whole = Math.max(1, room.expiresAt.value - room.since.value);
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
